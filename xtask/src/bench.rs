//! Measurements: the release build of `league`, driven by the programs in `lab/bench`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::{Outcome, Repository, say, structure};

const PAGE: &str = "docs/performance.md";
const REPORT: &str = "docs/performance.json";
const GROWTH: &str = "10,32,100,316,1000";

pub(crate) fn league(repository: &Repository, arguments: &[&str]) -> Outcome {
    let mut bench = lab(repository, "measure")?;
    bench.args(arguments);
    repository.run(bench)
}

pub(crate) fn load(repository: &Repository, arguments: &[&str]) -> Outcome {
    let mut load = lab(repository, "load")?;
    load.args(arguments);
    repository.run(load)
}

/// First the pages of a large league, then leagues with and without viewers.
pub(crate) fn viewers(repository: &Repository) -> Outcome {
    say::begin("pages of a league of 1,000 players");
    repository.run(repository.cargo(
        "test --release --package league-dashboard --test site -- --nocapture a_large_league_is_paged_and_searched",
    ))?;
    say::begin("a league of 100 players, without viewers and with 500");
    let viewers = lab(repository, "viewers")?;
    repository.run(viewers)
}

/// Measures, with a second build that counts allocations, and rewrites the page.
pub(crate) fn performance(repository: &Repository) -> Outcome {
    let counting = repository.target.join("counting");
    let mut counter = repository.cargo("build --release --package league --features allocations --target-dir");
    counter.arg(&counting);
    repository.run(counter)?;
    let mut bench = lab(repository, "measure")?;
    bench
        .args(["--growth", GROWTH, "--json", REPORT, "--allocations-by"])
        .arg(counting.join("release").join(program("league")));
    repository.run(bench)?;
    show(repository)
}

/// A test compares the page with the report.
pub(crate) fn show(repository: &Repository) -> Outcome {
    let tables = repository.target.join("performance.md");
    let mut bench = lab(repository, "measure")?;
    bench.args(["--report", REPORT, "--markdown"]).arg(&tables).stdout(Stdio::null());
    repository.run(bench)?;
    let tables = fs::read_to_string(&tables).map_err(|error| format!("cannot read {}: {error}", tables.display()))?;
    structure::rewrite(repository, PAGE, "bench", &tables)
}

fn lab(repository: &Repository, command: &str) -> Result<Command, String> {
    repository.run(repository.cargo("build --release --package league --package league-bench"))?;
    let built = |name: &str| -> PathBuf { repository.target.join("release").join(program(name)) };
    let mut lab = Command::new(built("league-bench"));
    lab.arg(command).arg("--league").arg(built("league"));
    Ok(lab)
}

fn program(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}
