//! `cargo xtask ci extension`: one game, one strategy, one format and one message are added to a copy of the workspace. They may
//! touch only the files that CONTRIBUTING.md names for their kind; the copy is then built, tested and played.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Outcome, Repository, structure};

const GUIDE: &str = "CONTRIBUTING.md";

/// What somebody adds by following a section of the guide.
struct Addition {
    section: &'static str,
    files: &'static [(&'static str, &'static str)],
    lines: &'static [Insertion],
}

/// A line that goes below the first line that contains `below`.
struct Insertion {
    path: &'static str,
    below: &'static str,
    line: &'static str,
}

const ADDITIONS: &[Addition] = &[];

pub(crate) fn check(repository: &Repository) -> Outcome {
    let copy = repository.target.join("extension");
    copy_workspace(repository, &copy)?;
    let guide = structure::read(&repository.root.join(GUIDE))?;
    for addition in ADDITIONS {
        let section = guide.split("\n## ").find(|part| part.starts_with(addition.section));
        let section = section.ok_or_else(|| format!("{GUIDE} has no section `{}`", addition.section))?;
        for (path, text) in addition.files {
            named(section, path)?;
            write(&copy.join(path), text)?;
        }
        for Insertion { path, below, line } in addition.lines {
            named(section, path)?;
            let text = structure::read(&copy.join(path))?;
            let (before, after) = text.split_once(below).ok_or_else(|| format!("{path} has no line with {below}"))?;
            let (rest, after) = after.split_once('\n').unwrap_or((after, ""));
            write(&copy.join(path), &format!("{before}{below}{rest}\n{line}\n{after}"))?;
        }
    }
    let cargo = |words: &str| {
        let mut command = repository.cargo(words);
        command.arg("--manifest-path").arg(copy.join("Cargo.toml")).env("CARGO_TARGET_DIR", &repository.target);
        command
    };
    // The new message changes golden files and PROTOCOL.md, as the guide says.
    let mut bless = cargo("test --package league-protocol --package league-core --package league-player");
    bless.env("INSTA_UPDATE", "always").env("LEAGUE_BLESS", "1");
    repository.run(bless)?;
    repository.run(cargo("test --package league-protocol --package league-core --package league-player"))?;
    let mut played = cargo("run --package league");
    played.args([
        "--",
        "run",
        "--port",
        "0",
        "--players",
        "5",
        "--game",
        "higher_number",
        "--strategies",
        "cautious",
        "--home",
    ]);
    played.arg(copy.join("home"));
    repository.run(played)
}

/// The section must name the file, or the folder that a new file goes into.
fn named(section: &str, path: &str) -> Outcome {
    let folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
    let quoted: Vec<&str> = section.split('`').skip(1).step_by(2).map(|name| name.trim_end_matches('/')).collect();
    if quoted.contains(&path) || quoted.contains(&folder) {
        return Ok(());
    }
    Err(format!("{GUIDE} does not name {path} where it says: {}", section.lines().next().unwrap_or_default()))
}

fn copy_workspace(repository: &Repository, copy: &Path) -> Outcome {
    if copy.exists() {
        fs::remove_dir_all(copy).map_err(|error| format!("cannot empty {}: {error}", copy.display()))?;
    }
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    let files = repository.ask(git).ok_or("git does not list the files")?;
    for file in files.lines().filter(|file| repository.root.join(file).is_file()) {
        let (from, to) = (repository.root.join(file), copy.join(file));
        to.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .map_err(|error| format!("cannot create {}: {error}", to.display()))?;
        fs::copy(&from, &to).map_err(|error| format!("cannot copy {file}: {error}"))?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
