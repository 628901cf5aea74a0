//! `cargo xtask simulate`: leagues in a simulation that breaks whatever can break, many of them, built for speed.

use crate::{Outcome, Repository};

/// Runs so many simulations, from `seed` on; a single one is told in full.
pub(crate) fn run(repository: &Repository, runs: u64, seed: u64) -> Outcome {
    let mut command = repository.cargo("run --release --quiet --package league-simulation --");
    command.args([String::from("--runs"), runs.to_string(), String::from("--seed"), seed.to_string()]);
    repository.run(command)
}
