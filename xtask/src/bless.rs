//! `cargo xtask bless`: accepts the current output as golden files and generated documents.
//!
//! A person reads the difference and commits it; no other task calls this.

use crate::{Outcome, Repository, bench, instructions, structure};

pub(crate) fn all(repository: &Repository) -> Outcome {
    structure::bless(repository)?;
    let mut tests = repository.cargo("test --workspace");
    tests.env("INSTA_UPDATE", "always").env("LEAGUE_BLESS", "1");
    repository.run(tests)?;
    instructions::bless(repository)?;
    bench::show(repository)
}
