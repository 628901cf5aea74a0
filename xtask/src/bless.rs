//! `cargo xtask bless`: what the code says now becomes what the golden files and generated documents expect.
//!
//! The difference is then read and committed by a person: nothing else calls this.

use crate::{Outcome, Repository, instructions, performance};

/// Rewrites golden files and generated documentation.
pub(crate) fn golden_files(repository: &Repository) -> Outcome {
    let mut tests = repository.cargo("test --workspace");
    tests.env("INSTA_UPDATE", "always").env("LEAGUE_BLESS", "1");
    repository.run(tests)?;
    instructions::bless(repository)?;
    performance::show(repository)
}
