//! The steps of `test`, `ci` and `soak`. The first step that fails ends the run.

use std::process::Command;
use std::time::Instant;

use crate::{
    Outcome, Repository, delivery, documents, extension, files, fuzz, instructions, peers, postgres, say, structure,
    tools, windows,
};

#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// What holds when the step passes.
    pub(crate) guards: &'static str,
    check: fn(&Repository) -> Outcome,
}

const fn step(name: &'static str, guards: &'static str, check: fn(&Repository) -> Outcome) -> Step {
    Step { name, guards, check }
}

pub(crate) const TEST: &[Step] = &[
    step("format", "the sources are formatted", format),
    step(
        "structure",
        "no two crates export one type name; ARCHITECTURE.md shows the crates; files stay short",
        structure::check,
    ),
    step("lints", "no compiler or clippy warning in any target; all tests compile", lints),
    step("tests", "unit, property, golden, simulation and whole-league tests pass", tests),
];

pub(crate) const CI: &[Step] = &[
    step("dependencies", "licenses and sources of all dependencies are allowed", |repository| {
        repository.run(tools::deny(repository)?)
    }),
    step("unused", "no crate names a dependency that it does not use", |repository| {
        repository.run(tools::machete(repository)?)
    }),
    step("peers", "MCP's official clients and suite, the kits and a real browser accept us", foreign),
    step(
        "postgres",
        "the log in PostgreSQL keeps the contract of every log, and standbys take leagues over",
        postgres::check,
    ),
    step(
        "simulations",
        "1,000 simulated leagues, and 1,000 faults of leading managers, keep every invariant",
        simulations,
    ),
    step("hostile", "150 referees and 150 players that lie gain nothing unnoticed", |repository| {
        let tests = tools::linted(repository, "test --workspace --test hostile no_")?;
        hostile(repository, tests, "150")
    }),
    step("machines", "a league works across hosts (Linux namespaces)", machines),
    step("traces", "the feature `otel` builds, and a match is one trace", traces),
    step("windows", "the Windows program builds and passes its tests under Wine", windows::check),
    step("docs", "the code's documentation builds and its links lead somewhere", docs),
    step("instructions", "the hottest paths need at most 5 % more instructions than recorded", instructions::check),
    step("delivery", "the image holds a league; its files for deployment are valid", delivery::check),
    step("documents", "every link and every command in the documents works", documents::check),
    step(
        "extension",
        "a game, a strategy, a format and a message need only the files that CONTRIBUTING.md names",
        extension::check,
    ),
    step("fuzz", "ten seconds of fuzzing per target find nothing", |repository| fuzz::run(repository, None, 10)),
];

pub(crate) const SOAK: &[Step] = &[
    step("simulations", "10,000 simulated leagues keep every invariant", |repository| simulate(repository, &[])),
    step("hostile", "1,000 referees and 1,000 players that lie gain nothing unnoticed", |repository| {
        hostile(repository, repository.cargo("test --release --package league-simulation --test hostile no_"), "1000")
    }),
    step("skill", "better strategies finish above worse ones in 19 of 20 seeds", |repository| {
        repository.run(repository.cargo("test --release --package league-player --test skill -- --ignored --nocapture"))
    }),
    step("connect_four", "the first moves of Connect Four have the values that are known", |repository| {
        repository.run(repository.cargo("run --release --package league-bench -- connect-four"))
    }),
    step("calls", "a million calls: no player that answers in time is charged", |repository| {
        crate::bench::load(repository, &[])
    }),
    step(
        "takeovers",
        "after 60 faults a standby goes on within 8 s; no result is lost, no player charged",
        |repository| postgres::takeovers(repository, "60"),
    ),
    step(
        "fleet",
        "200 players, 8 referees that pull, one killed every 5 s: the results are those of an undisturbed league",
        fleet,
    ),
    // Two of the five targets run at a time on two cores: three turns of ten minutes.
    step("fuzz", "30 minutes of fuzzing find nothing", |repository| fuzz::run(repository, None, 600)),
];

pub(crate) fn run(repository: &Repository, task: &str, steps: &[Step], only: Option<&str>) -> Outcome {
    let start = Instant::now();
    let chosen: Vec<&Step> = steps.iter().filter(|step| only.is_none_or(|only| only == step.name)).collect();
    for (number, step) in (1..).zip(&chosen) {
        let (name, began) = (step.name, Instant::now());
        say::begin(&format!("step {number} of {}, {name}: {}", chosen.len(), step.guards));
        (step.check)(repository).map_err(|problem| {
            let seconds = began.elapsed().as_secs_f64();
            format!(
                "the step `{name}` failed after {seconds:.0} s: {problem}\nalone it runs as: cargo xtask {task} {name}"
            )
        })?;
        say::passed(&format!("{name} passed in {:.0} s", began.elapsed().as_secs_f64()));
    }
    say::passed(&format!("cargo xtask {task} passed in {:.0} s", start.elapsed().as_secs_f64()));
    Ok(())
}

fn format(repository: &Repository) -> Outcome {
    tools::component(repository, "fmt", "rustfmt")?;
    repository.run(repository.cargo("fmt --all --check"))?;
    repository.run(repository.cargo("fmt --manifest-path fuzz/Cargo.toml --check"))
}

fn lints(repository: &Repository) -> Outcome {
    repository.run(tools::linted(repository, "test --workspace --all-targets --no-run")?)
}

fn tests(repository: &Repository) -> Outcome {
    let without_nextest = "test --workspace --lib --bins --tests";
    let words = if tools::has_nextest(repository) { "nextest run --workspace" } else { without_nextest };
    repository.run(tools::linted(repository, words)?)
}

/// Tests that other steps ignore, by the prefix of their names.
pub(crate) fn ignored(repository: &Repository, names: &[&str]) -> Result<Command, String> {
    // `help` is a test of the Rust kit: for it cargo builds the kit's program, which the other tests start.
    if tools::has_nextest(repository) {
        let words = "nextest run --workspace --test whole --test help --run-ignored only -E";
        let mut command = tools::linted(repository, words)?;
        let patterns: Vec<String> = names.iter().map(|name| format!("test(/^{name}/)")).collect();
        command.arg(patterns.join(" | "));
        return Ok(command);
    }
    let mut command = tools::linted(repository, "test --workspace --test whole --test help -- --ignored")?;
    command.args(names);
    Ok(command)
}

fn foreign(repository: &Repository) -> Outcome {
    with_peers(repository, &["browser::", "documents::", "everyone::", "kits::", "peers::"])
}

pub(crate) fn simulate(repository: &Repository, arguments: &[&str]) -> Outcome {
    let mut command = repository.cargo("run --release --quiet --package league-simulation --");
    command.args(arguments);
    repository.run(command)
}

fn simulations(repository: &Repository) -> Outcome {
    let mut tests = tools::linted(repository, "test --workspace --test simulation nothing_is_lost")?;
    tests.env("LEAGUE_SIMULATIONS", "1000");
    repository.run(tests)?;
    let mut tests = tools::linted(repository, "test --workspace --test takeovers takeovers_lose -- --nocapture")?;
    tests.env("LEAGUE_SIMULATED_TAKEOVERS", "1000");
    repository.run(tests)
}

fn hostile(repository: &Repository, mut tests: Command, runs: &str) -> Outcome {
    tests.env("LEAGUE_HOSTILE_SIMULATIONS", runs);
    repository.run(tests)
}

fn machines(repository: &Repository) -> Outcome {
    if let Err(why) = tools::namespaces(repository) {
        say::skipped(&format!("the tests across several machines, because {why}"));
        return Ok(());
    }
    if !postgres::is_installed(repository)? {
        say::skipped("the tests across several machines, because one of them needs PostgreSQL");
        return Ok(());
    }
    with_peers(repository, &["several_machines::"])
}

/// Players, referees and rounds.
const FLEET: &str = "200 8 14";

fn fleet(repository: &Repository) -> Outcome {
    if let Err(why) = tools::namespaces(repository) {
        say::skipped(&format!("the fleet of referees, because {why}"));
        return Ok(());
    }
    let test = "test --workspace --test whole several_machines::fleet::killed -- --ignored --nocapture";
    let mut tests = tools::linted(repository, test)?;
    tests.env("LEAGUE_FLEET", FLEET);
    repository.run(tests)
}

/// Tests that need MCP's official clients and a browser.
fn with_peers(repository: &Repository, names: &[&str]) -> Outcome {
    let peers = peers::installed(repository)?;
    tools::browser(repository)?;
    let mut tests = ignored(repository, names)?;
    tests.env("LEAGUE_PEERS", peers);
    repository.run(tests)
}

/// Separate from the other tests: the feature adds thirty crates, for which a newcomer need not wait. Only the program is
/// built with it, and `help`, a small test, because that gives the dependencies the features that they have in `lints`:
/// they are not compiled again.
fn traces(repository: &Repository) -> Outcome {
    let build = "build --workspace --features league/otel --bin league --test help";
    repository.run(tools::linted(repository, build)?)?;
    let traced = repository.target.join("traced").join("league");
    files::copy(&repository.debug_program("league"), &traced)?;
    let mut tests = ignored(repository, &["traces::"])?;
    tests.env("LEAGUE_TRACED", traced);
    repository.run(tests)
}

fn docs(repository: &Repository) -> Outcome {
    let mut docs = repository.cargo("doc --workspace --features league/otel --no-deps --document-private-items");
    docs.env("RUSTDOCFLAGS", "-D warnings");
    repository.run(docs)
}
