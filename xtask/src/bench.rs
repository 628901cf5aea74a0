//! `cargo xtask bench`: the benchmarks that exist, and nothing that is merely compiled for them.

use std::fs;

use crate::{Outcome, Repository};

/// Runs every benchmark of the workspace.
pub(crate) fn all(repository: &Repository) -> Outcome {
    let crates = fs::read_dir(repository.root.join("crates")).map_err(|e| format!("cannot list crates/: {e}"))?;
    if !crates.flatten().any(|entry| entry.path().join("benches").is_dir()) {
        eprintln!("there are no benchmarks yet: they live in crates/*/benches");
        return Ok(());
    }
    // By pattern, because a bare `cargo bench` also starts the unit tests' harness of every crate, to measure nothing.
    repository.run(repository.cargo("bench --workspace --bench *"))
}
