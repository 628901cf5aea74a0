//! Checks the documents: their commands work, and their links have targets.

use std::process::Command;

use crate::markdown::{Found, commands, relative_links};
use crate::repository::QUICK_RELEASE;
use crate::{Outcome, Repository, files, tasks};

pub(crate) fn check(repository: &Repository) -> Outcome {
    let mut texts = Vec::new();
    let mut folders = [".", "docs", "docs/decisions", "examples"].map(|folder| repository.root.join(folder)).to_vec();
    folders.extend(files::list(&repository.root.join("examples"))?.into_iter().filter(|path| path.is_dir()));
    for folder in folders {
        let paths = files::list(&folder)?;
        for path in paths.into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "md")) {
            let text = files::read(&path)?;
            texts.push((path, text));
        }
    }
    // Links first: they cost nothing.
    let dead: Vec<String> = texts
        .iter()
        .flat_map(|(page, text)| relative_links(text).into_iter().map(move |link| (page, link)))
        .filter(|(page, link)| !page.with_file_name(&link.text).exists())
        .map(|(page, Found { line, text })| {
            format!("\n  {}:{line} links to {text}, which does not exist", page.display())
        })
        .collect();
    if !dead.is_empty() {
        return Err(format!("dead links:{}", dead.concat()));
    }
    for (page, text) in &texts {
        for command in commands(text) {
            try_out(repository, &command.text)
                .map_err(|problem| format!("{}:{}: {problem}", page.display(), command.line))?;
        }
    }
    Ok(())
}

fn try_out(repository: &Repository, command: &str) -> Outcome {
    if is_task(command)? {
        eprintln!("    {command} (a task; not run from here)");
        return Ok(());
    }
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).envs(QUICK_RELEASE);
    repository.run(shell)
}

/// A task of ours must exist, but is not run from within a task.
fn is_task(command: &str) -> Result<bool, String> {
    let words: Vec<&str> = command.split_whitespace().take_while(|word| !word.starts_with('#')).collect();
    match words[..] {
        [".ci/run"] => Ok(true),
        ["cargo", "xtask", ref task @ ..] => {
            tasks::parse(task).map(|found| found.is_some()).map_err(|wrong| format!("`{command}`: {wrong}"))
        }
        [..] => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::structure;

    fn document(name: &str) -> String {
        fs::read_to_string(root().join(name)).unwrap()
    }

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    fn quoted(text: &str) -> impl Iterator<Item = &str> {
        text.split('`').skip(1).step_by(2)
    }

    fn assert_all_exist(names: &[&str]) {
        let parts = ["crates", "examples", "lab", "xtask"].map(|part| structure::sources(&root().join(part)).unwrap());
        let code: String = parts.iter().flatten().map(|file| fs::read_to_string(file).unwrap()).collect();
        let missing: Vec<_> = names.iter().filter(|name| !code.contains(&format!("fn {name}("))).collect();
        assert!(missing.is_empty(), "no such tests: {missing:#?}");
    }

    #[test]
    fn every_test_that_the_page_on_security_names_exists() {
        let page = document("SECURITY.md");
        let letters = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let named: Vec<_> = quoted(&page).filter(|word| letters(word) && word.matches('_').count() >= 3).collect();
        assert!(named.len() > 40, "the page has lost its tests: {named:?}");
        assert_all_exist(&named);
    }

    #[test]
    fn every_requirement_has_a_status_and_a_test_that_exists() {
        let page = document("docs/conformance.md");
        let rows: Vec<Vec<&str>> = page
            .lines()
            .filter(|line| line.starts_with("| S") && line.as_bytes().get(3).is_some_and(u8::is_ascii_digit))
            .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
            .collect();
        let (counts, requirements): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| row[1..].iter().all(|cell| cell.parse::<u32>().is_ok()));
        let mut named = Vec::new();
        for row in &requirements {
            let &[_, _, _, status, tests] = row.as_slice() else { panic!("not five columns: {row:?}") };
            let tests: Vec<_> = quoted(tests).collect();
            match status {
                "works" | "decided" => assert!(!tests.is_empty(), "no test is named: {row:?}"),
                "planned" => {}
                other => panic!("unknown status {other}: {row:?}"),
            }
            named.extend(tests);
        }
        for count in counts {
            let of = |status: &str| requirements.iter().filter(|row| row[0] == count[0] && row[3] == status).count();
            let [works, decided, planned] = ["works", "decided", "planned"].map(of);
            let counted = [works + decided + planned, works, decided, planned].map(|n| n.to_string());
            assert_eq!(count[1..], counted, "the counts of {}", count[0]);
        }
        assert_eq!(requirements.len(), 253);
        assert_all_exist(&named);
    }

    #[test]
    fn tasks_of_our_own_must_exist_and_are_not_run_from_within_a_task() {
        for command in
            [".ci/run", "cargo xtask test", "cargo xtask bench", "cargo xtask fuzz --seconds 20  # or longer"]
        {
            assert_eq!(is_task(command), Ok(true), "{command}");
        }
        for command in ["cargo run --release", "cargo xtask --help", "cargo xtask", "cargo"] {
            assert_eq!(is_task(command), Ok(false), "{command}");
        }
        assert!(is_task("cargo xtask tset").unwrap_err().contains("`tset`"));
        assert!(is_task("cargo xtask test spelling").is_err());
    }
}
