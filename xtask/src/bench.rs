//! `cargo xtask bench`: the benchmarks that exist, and nothing that is merely compiled for them.

use std::fs;

use crate::{Outcome, Repository};

/// A league of 100 players over real HTTP, with its log, its files and its transcripts: 4,950 matches.
const LEAGUE: &str =
    "run --release --package league -- run --players 100 --referees 4 --port 0 --json --home target/bench-league";

/// Runs every benchmark of the workspace, then a whole league.
pub(crate) fn all(repository: &Repository) -> Outcome {
    // By pattern, because a bare `cargo bench` also starts the unit tests' harness of every crate, to measure nothing.
    repository.run(repository.cargo("bench --workspace --bench *"))?;
    let home = repository.root.join("target/bench-league");
    if home.exists() {
        fs::remove_dir_all(&home).map_err(|error| format!("cannot empty {}: {error}", home.display()))?;
    }
    let mut league = repository.cargo(LEAGUE);
    // The standings are of no interest here; how long it took is said on stderr.
    league.stdout(std::process::Stdio::null());
    repository.run(league)
}
