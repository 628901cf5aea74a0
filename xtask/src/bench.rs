//! Measurements: the release build of `league`, driven by the programs in `lab/bench`.

use std::process::{Command, Stdio};

use crate::{Outcome, Repository, files, say, structure};

const PAGE: &str = "docs/performance.md";
const REPORT: &str = "docs/performance.json";
const GROWTH: &str = "10,32,100,316,1000";

pub(crate) fn league(repository: &Repository, arguments: &[&str]) -> Outcome {
    repository.run(lab(repository, "measure", arguments)?)
}

pub(crate) fn load(repository: &Repository, arguments: &[&str]) -> Outcome {
    repository.run(lab(repository, "load", arguments)?)
}

pub(crate) fn crowd(repository: &Repository, arguments: &[&str]) -> Outcome {
    repository.run(lab(repository, "crowd", arguments)?)
}

/// `url` names a PostgreSQL server.
pub(crate) fn stores(repository: &Repository, url: &str, arguments: &[&str]) -> Outcome {
    let mut lab = lab(repository, "stores", arguments)?;
    lab.env("LEAGUE_STORE", url);
    repository.run(lab)
}

/// First the pages of a large league, then leagues with and without viewers.
pub(crate) fn viewers(repository: &Repository) -> Outcome {
    say::begin("pages of a league of 1,000 players");
    repository.run(repository.cargo(
        "test --release --package league-dashboard --test site -- --nocapture a_large_league_is_paged_and_searched",
    ))?;
    say::begin("a league of 100 players, without viewers and with 500");
    repository.run(lab(repository, "viewers", &[])?)
}

/// Measures, with a second build that counts allocations, and rewrites the page.
pub(crate) fn performance(repository: &Repository) -> Outcome {
    let counting = repository.target.join("counting");
    let mut counter = repository.cargo("build --release --package league --features allocations --target-dir");
    counter.arg(&counting);
    repository.run(counter)?;
    let mut bench = lab(repository, "measure", &["--growth", GROWTH, "--json", REPORT, "--allocations-by"])?;
    bench.arg(counting.join("release").join(format!("league{}", std::env::consts::EXE_SUFFIX)));
    repository.run(bench)?;
    show(repository)
}

/// A test compares the page with the report.
pub(crate) fn show(repository: &Repository) -> Outcome {
    let tables = repository.target.join("performance.md");
    let mut bench = lab(repository, "measure", &["--report", REPORT, "--markdown"])?;
    bench.arg(&tables).stdout(Stdio::null());
    repository.run(bench)?;
    structure::rewrite(repository, PAGE, "bench", &files::read(&tables)?)
}

fn lab(repository: &Repository, command: &str, arguments: &[&str]) -> Result<Command, String> {
    repository.run(repository.cargo("build --release --package league --package league-bench"))?;
    let mut lab = Command::new(repository.program("league-bench"));
    lab.arg(command).arg("--league").arg(repository.program("league")).args(arguments);
    Ok(lab)
}
