//! Long runs. Their small versions are in `cargo xtask test` and `cargo xtask ci`.

use crate::{Outcome, Repository, fuzz as fuzzing};

/// Two of the five targets run at a time on two cores: three turns of ten minutes.
const FUZZ_SECONDS: u32 = 600;

pub(crate) fn simulate(repository: &Repository, arguments: &[&str]) -> Outcome {
    let mut command = repository.cargo("run --release --quiet --package league-simulation --");
    command.args(arguments);
    repository.run(command)
}

pub(crate) fn fuzz(repository: &Repository) -> Outcome {
    fuzzing::run(repository, None, FUZZ_SECONDS)
}
