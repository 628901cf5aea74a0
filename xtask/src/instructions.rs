//! Instructions of the hottest paths, counted by callgrind and compared with recorded counts, without noise.
//!
//! Each path runs n times and 2n times; the difference leaves out the start of the process. Counts belong to one
//! compiler: those of another are shown and not compared. Without valgrind the step is skipped.

use std::collections::BTreeMap;
use std::path::Path;

use crate::repository::{QUICK_RELEASE, command};
use crate::{Outcome, Repository, files, say, tools};

const RECORD: &str = "docs/instructions.txt";
const ALLOWED_GROWTH: f64 = 0.05;
const PATHS: [(&str, u64); 3] = [("call", 500), ("match", 1), ("transcript", 500)];

pub(crate) fn check(repository: &Repository) -> Outcome {
    if let Err(why) = tools::valgrind(repository) {
        say::skipped(&why);
        return Ok(());
    }
    let (counted, compiler) = (count(repository)?, compiler(repository)?);
    let recorded = RecordedCounts::read(&repository.root.join(RECORD))?;
    let mut slower = Vec::new();
    for (path, now) in &counted {
        let before = recorded.counts.get(path).copied().unwrap_or(0);
        eprintln!("    {path}: {now} instructions, {before} before");
        if *now as f64 > before as f64 * (1.0 + ALLOWED_GROWTH) {
            slower.push(format!("{path} takes {now} instructions where it took {before}"));
        }
    }
    if recorded.compiler != compiler {
        eprintln!("    not judged: they were counted with {}, and this is {compiler}", recorded.compiler);
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
    files::write(&repository.root.join(RECORD), text)
}

struct RecordedCounts {
    compiler: String,
    counts: BTreeMap<String, u64>,
}

impl RecordedCounts {
    fn read(path: &Path) -> Result<Self, String> {
        let text = files::read(path)?;
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
    let version = repository.output(command("rustc --version")).ok_or("rustc does not say its version")?;
    Ok(format!("{version} {}", std::env::consts::ARCH))
}

fn count(repository: &Repository) -> Result<BTreeMap<String, u64>, String> {
    // Builds `league` as well, for the check of the documents.
    let mut build = repository.cargo("build --release --package league --package league-bench");
    build.envs(QUICK_RELEASE);
    repository.run(build)?;
    let once = |(path, times): (&str, u64)| {
        let few = instructions(repository, path, times)?;
        let many = instructions(repository, path, 2 * times)?;
        Ok((path.to_owned(), many.saturating_sub(few) / times))
    };
    PATHS.into_iter().map(once).collect()
}

fn instructions(repository: &Repository, path: &str, times: u64) -> Result<u64, String> {
    let out = repository.target.join(format!("callgrind.{path}"));
    let mut valgrind = command("valgrind --quiet --tool=callgrind");
    valgrind.arg(format!("--callgrind-out-file={}", out.display()));
    valgrind.arg(repository.program("league-bench")).args(["path", path, &times.to_string()]);
    repository.output(valgrind).ok_or_else(|| format!("valgrind could not run {path}"))?;
    let text = files::read(&out)?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals:").or_else(|| line.strip_prefix("summary:")));
    let total = total.and_then(|total| total.split_whitespace().next()?.parse().ok());
    total.ok_or_else(|| format!("{} tells no total", out.display()))
}
