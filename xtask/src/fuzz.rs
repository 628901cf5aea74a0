//! `cargo xtask fuzz`: coverage-guided fuzzing with libFuzzer, on the stable toolchain.
//!
//! `cargo fuzz` needs nightly for its sanitizers. Without `unsafe` there is little for those to find; what guides the
//! fuzzer is coverage, and that is a pass of LLVM which stable rustc runs when asked.

use std::fs;
use std::path::PathBuf;

use crate::{Outcome, Repository, say, tools};

/// Counts every edge and hands the operands of every comparison to the fuzzer. One unit per crate, so that copies of one
/// function do not count as different places. No flags for the linker: it drops a dead function's counters along with
/// the function, and `-Clink-dead-code` only makes ten times as many of them and half the speed.
const FLAGS: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    --cfg fuzzing -Ccodegen-units=1";

/// Fuzzes `target`, or each in turn, for `seconds`.
pub(crate) fn run(repository: &Repository, target: Option<&str>, seconds: u32) -> Outcome {
    let known = targets(repository)?;
    let chosen = match target {
        None => known,
        Some(name) if known.iter().any(|target| target == name) => vec![name.to_owned()],
        Some(name) => return Err(format!("there is no fuzz target `{name}`; there are {}", known.join(", "))),
    };
    tools::cxx(repository)?;
    for target in chosen {
        say::begin(&format!("{target} for {seconds} s"));
        fuzz(repository, &target, seconds)?;
    }
    Ok(())
}

/// One per file in fuzz/fuzz_targets.
fn targets(repository: &Repository) -> Result<Vec<String>, String> {
    let files = fs::read_dir(repository.root.join("fuzz/fuzz_targets"));
    let files = files.map_err(|e| format!("cannot list fuzz/fuzz_targets: {e}"))?;
    let mut names: Vec<_> = files
        .flatten()
        .filter_map(|file| file.file_name().to_string_lossy().strip_suffix(".rs").map(str::to_owned))
        .collect();
    names.sort();
    Ok(names)
}

fn fuzz(repository: &Repository, target: &str, seconds: u32) -> Outcome {
    let [corpus, artifacts] = ["corpus", "artifacts"].map(|kind| format!("fuzz/{kind}/{target}"));
    for folder in [&corpus, &artifacts] {
        fs::create_dir_all(repository.root.join(folder)).map_err(|e| format!("cannot create {folder}: {e}"))?;
    }
    // Naming the target, even if it is the host, keeps the flags away from build scripts and macros.
    let mut command = repository.cargo("run --release --manifest-path fuzz/Cargo.toml --target host-tuple");
    command
        .env("RUSTFLAGS", FLAGS)
        .arg("--target-dir")
        .arg(repository.target.join("fuzz"))
        .args(["--bin", target, "--"]);
    command.args([format!("-max_total_time={seconds}"), format!("-artifact_prefix={artifacts}/")]);
    // What is new goes into the first folder: the committed seeds stay as they are. What one target reads another may as well.
    command.arg(&corpus).args(seeds(repository)?);
    repository.run(command)
}

/// Every folder of seeds.
fn seeds(repository: &Repository) -> Result<Vec<PathBuf>, String> {
    let folders =
        fs::read_dir(repository.root.join("fuzz/seeds")).map_err(|e| format!("cannot list fuzz/seeds: {e}"))?;
    let mut folders: Vec<PathBuf> = folders.flatten().map(|folder| folder.path()).collect();
    folders.sort();
    Ok(folders)
}
