//! Instructions of the hottest paths, counted by callgrind and compared with recorded counts, without noise.
//!
//! Each path runs n times and 2n times; the difference leaves out the start of the process. Counts belong to one
//! compiler: those of another are shown and not compared. Without valgrind the step is skipped.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::repository::TRIED;
use crate::{Outcome, Repository, say, tools};

const KEPT: &str = "docs/instructions.txt";
/// The allowed growth.
const ROOM: f64 = 0.05;
const PATHS: [(&str, u64); 3] = [("call", 500), ("match", 1), ("transcript", 500)];

pub(crate) fn check(repository: &Repository) -> Outcome {
    if let Err(why) = tools::valgrind(repository) {
        say::skipped(&why);
        return Ok(());
    }
    let (counted, compiler) = (count(repository)?, compiler(repository)?);
    let kept = Kept::read(&repository.root.join(KEPT))?;
    let mut slower = Vec::new();
    for (path, now) in &counted {
        let before = kept.counts.get(path).copied().unwrap_or(0);
        eprintln!("    {path}: {now} instructions, {before} before");
        if *now as f64 > before as f64 * (1.0 + ROOM) {
            slower.push(format!("{path} takes {now} instructions where it took {before}"));
        }
    }
    if kept.compiler != compiler {
        eprintln!("    not judged: they were counted with {}, and this is {compiler}", kept.compiler);
        return Ok(());
    }
    if slower.is_empty() {
        return Ok(());
    }
    Err(format!("{}; if that is worth it, `cargo xtask bless` keeps the new counts", slower.join(", ")))
}

pub(crate) fn bless(repository: &Repository) -> Outcome {
    tools::valgrind(repository)?;
    let mut text =
        format!("# Instructions of the hottest paths, by callgrind: `cargo xtask bless`.\n{}\n", compiler(repository)?);
    for (path, count) in count(repository)? {
        text.push_str(&format!("{path} {count}\n"));
    }
    fs::write(repository.root.join(KEPT), text).map_err(|e| format!("cannot write {KEPT}: {e}"))
}

struct Kept {
    compiler: String,
    counts: BTreeMap<String, u64>,
}

impl Kept {
    fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|e| format!("cannot read {KEPT}: {e}"))?;
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let compiler = lines.next().unwrap_or_default().to_owned();
        let counts = lines.filter_map(|line| {
            let (path, count) = line.split_once(' ')?;
            Some((path.to_owned(), count.parse().ok()?))
        });
        Ok(Self { compiler, counts: counts.collect() })
    }
}

fn compiler(repository: &Repository) -> Result<String, String> {
    let mut rustc = Command::new("rustc");
    rustc.arg("--version");
    let version = repository.ask(rustc).ok_or("rustc does not say its version")?;
    Ok(format!("{version} {}", std::env::consts::ARCH))
}

fn count(repository: &Repository) -> Result<BTreeMap<String, u64>, String> {
    // Builds `league` as well, for the check of the documents.
    let mut build = repository.cargo("build --release --package league --package league-bench");
    build.envs(TRIED);
    repository.run(build)?;
    let program = repository.target.join("release").join(format!("league-bench{}", std::env::consts::EXE_SUFFIX));
    PATHS.iter().map(|(path, times)| Ok(((*path).to_owned(), once(repository, &program, path, *times)?))).collect()
}

fn once(repository: &Repository, program: &Path, path: &str, times: u64) -> Result<u64, String> {
    let few = instructions(repository, program, path, times)?;
    let many = instructions(repository, program, path, 2 * times)?;
    Ok(many.saturating_sub(few) / times)
}

fn instructions(repository: &Repository, program: &Path, path: &str, times: u64) -> Result<u64, String> {
    let out: PathBuf = repository.target.join(format!("callgrind.{path}"));
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--tool=callgrind"]).arg(format!("--callgrind-out-file={}", out.display()));
    valgrind.arg(program).args(["path", path, &times.to_string()]);
    repository.ask(valgrind).ok_or_else(|| format!("valgrind could not run {path}"))?;
    let text = fs::read_to_string(&out).map_err(|e| format!("cannot read {}: {e}", out.display()))?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals:").or_else(|| line.strip_prefix("summary:")));
    let total = total.and_then(|total| total.split_whitespace().next()?.parse().ok());
    total.ok_or_else(|| format!("{} tells no total", out.display()))
}
