//! `cargo xtask load`: one referee process against two thousand players, built for speed.

use std::process::Command;

use crate::{Outcome, Repository};

/// Builds the referee and what it is tried with, and tries it.
pub(crate) fn run(repository: &Repository) -> Outcome {
    repository.run(repository.cargo("build --release --quiet --package league --package league-load"))?;
    let built = repository.target.join("release");
    let mut load = Command::new(built.join("league-load"));
    load.arg("--league").arg(built.join("league"));
    repository.run(load)
}
