//! `cargo xtask fuzz`: coverage-guided fuzzing with libFuzzer, on the stable toolchain.
//!
//! `cargo fuzz` needs nightly for its sanitizers, which find little without `unsafe`. Coverage is a pass of LLVM that
//! stable rustc runs too.

use std::process::{Child, Command, Stdio};
use std::thread;

use crate::{Outcome, Repository, files, say, tools};

/// Counts every edge and passes the operands of every comparison to the fuzzer. One unit per crate: copies of one
/// function must not count as different places. Without `-Clink-dead-code`, which only halves the speed.
const FLAGS: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    --cfg fuzzing -Ccodegen-units=1";

pub(crate) fn task(repository: &Repository, arguments: &[&str]) -> Outcome {
    let (target, rest) = match arguments {
        [target, rest @ ..] if !target.starts_with('-') => (Some(*target), rest),
        rest => (None, rest),
    };
    let seconds = match rest {
        [] => Some(60),
        ["--seconds", text] => text.parse().ok(),
        [..] => None,
    };
    // libFuzzer takes zero for no limit.
    let seconds = seconds.filter(|seconds| *seconds > 0);
    run(repository, target, seconds.ok_or("`fuzz` takes a target and `--seconds` with a whole number above zero")?)
}

pub(crate) fn run(repository: &Repository, target: Option<&str>, seconds: u32) -> Outcome {
    let known = targets(repository)?;
    let chosen = match target {
        None => known,
        Some(name) if known.iter().any(|target| target == name) => vec![name.to_owned()],
        Some(name) => return Err(format!("there is no fuzz target `{name}`; there are {}", known.join(", "))),
    };
    tools::cxx(repository)?;
    // In one build: each target's own code is compiled and linked by one core.
    let mut build = cargo(repository, "build");
    for target in &chosen {
        build.args(["--bin", target]);
    }
    repository.run(build)?;
    if let [target] = &chosen[..] {
        say::begin(&format!("{target} for {seconds} s"));
        return repository.run(fuzzer(repository, target, seconds)?);
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    for group in chosen.chunks(cores) {
        say::begin(&format!("{} for {seconds} s", group.join(" and ")));
        let started = group.iter().map(|target| Ok((target, spawn(fuzzer(repository, target, seconds)?)?)));
        let started = started.collect::<Result<Vec<_>, String>>()?;
        let outcomes: Vec<Outcome> = started.into_iter().map(|(target, fuzzer)| wait(target, fuzzer)).collect();
        outcomes.into_iter().collect::<Outcome>()?;
    }
    Ok(())
}

/// Collects the output, because several fuzzers run at a time.
fn spawn(mut fuzzer: Command) -> Result<Child, String> {
    let quiet = fuzzer.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    quiet.spawn().map_err(|error| format!("cargo could not be started: {error}"))
}

fn wait(target: &str, fuzzer: Child) -> Outcome {
    let output = fuzzer.wait_with_output().map_err(|error| format!("{target} cannot be waited for: {error}"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        eprintln!("{log}");
        return Err(format!("{target} found something, see above ({})", output.status));
    }
    eprintln!("    {target}: {}", log.trim().lines().last().unwrap_or_default());
    Ok(())
}

fn targets(repository: &Repository) -> Result<Vec<String>, String> {
    let sources = files::list(&repository.root.join("fuzz/fuzz_targets"))?;
    Ok(sources.iter().filter_map(|file| files::name(file).strip_suffix(".rs").map(str::to_owned)).collect())
}

fn cargo(repository: &Repository, verb: &str) -> Command {
    // With an explicit target the flags do not apply to build scripts and macros.
    let mut cargo =
        repository.cargo(&format!("{verb} --release --manifest-path fuzz/Cargo.toml --target host-tuple --target-dir"));
    cargo.arg(repository.target.join("fuzz")).env("RUSTFLAGS", FLAGS).current_dir(&repository.root);
    cargo
}

fn fuzzer(repository: &Repository, target: &str, seconds: u32) -> Result<Command, String> {
    let [corpus, artifacts] = ["corpus", "artifacts"].map(|kind| format!("fuzz/{kind}/{target}"));
    for folder in [&corpus, &artifacts] {
        files::create(&repository.root.join(folder))?;
    }
    let mut command = cargo(repository, "run");
    command.args(["--bin", target, "--"]);
    command.args([format!("-max_total_time={seconds}"), format!("-artifact_prefix={artifacts}/")]);
    // libFuzzer writes only into the first folder. Every target reads the seeds of all.
    command.arg(&corpus).args(files::list(&repository.root.join("fuzz/seeds"))?);
    Ok(command)
}
