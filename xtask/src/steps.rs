//! `cargo xtask test`: what must hold, quickest to notice first; the first that does not ends the run.

use std::time::Instant;

use crate::{Outcome, Repository, documents, fuzz, instructions, peers, say, tools, windows};

/// What is outside of the default is tested too. It is on in every step that builds, because crates that are shared with it would else be
/// built twice; what is in the default alone is built, and run, for the documents.
const FEATURES: &str = "--features league/otel";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Format,
    /// No lint has anything to say.
    Clippy,
    Tests,
    /// So do those of the Windows program.
    Windows,
    /// So do the examples in the documentation of the code.
    DocTests,
    /// Which can be built, and whose links lead somewhere.
    Docs,
    /// No crate asks for what it does not use.
    Unused,
    /// What is used may be used, and comes from where it should.
    Dependencies,
    /// The hottest paths have not become longer.
    Instructions,
    /// A short look for bytes that break something.
    Fuzz,
    Documents,
}

impl Step {
    /// In the order in which they are taken.
    pub(crate) const ALL: [Self; 11] = [
        Self::Format,
        Self::Clippy,
        Self::Tests,
        Self::Windows,
        Self::DocTests,
        Self::Docs,
        Self::Unused,
        Self::Dependencies,
        Self::Instructions,
        Self::Fuzz,
        Self::Documents,
    ];

    /// How long each fuzz target is tried. What a longer look has found is kept as a test.
    const FUZZ_SECONDS: u32 = 10;

    /// What `--only` calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Clippy => "clippy",
            Self::Tests => "tests",
            Self::Windows => "windows",
            Self::DocTests => "doctests",
            Self::Docs => "docs",
            Self::Unused => "unused",
            Self::Dependencies => "dependencies",
            Self::Instructions => "instructions",
            Self::Fuzz => "fuzz",
            Self::Documents => "documents",
        }
    }

    /// The step called `name`.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|step| step.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            format!("there is no step `{name}`; the steps are {known}")
        })
    }

    fn check(self, repository: &Repository) -> Outcome {
        match self {
            Self::Format => {
                tools::component(repository, "fmt", "rustfmt")?;
                repository.run(repository.cargo("fmt --all --check"))?;
                repository.run(repository.cargo("fmt --manifest-path fuzz/Cargo.toml --check"))
            }
            Self::Clippy => {
                tools::component(repository, "clippy", "clippy")?;
                repository.run(repository.cargo(&format!("clippy --workspace {FEATURES} --all-targets -- -D warnings")))
            }
            Self::Tests => {
                let peers = peers::installed(repository)?;
                tools::browser(repository)?;
                let several_machines = tools::namespaces(repository);
                // The Windows program has a step of its own.
                let mut left_out = vec!["windows::"];
                if let Err(why) = several_machines {
                    say::skipped(&format!("the tests across several machines (several_machines::), because {why}"));
                    left_out.push("several_machines::");
                }
                // What is ignored elsewhere is ignored for want of the peers, of namespaces or of the Windows program.
                let mut tests = if tools::has_nextest(repository) {
                    let patterns: Vec<String> = left_out.iter().map(|part| format!("not test(/^{part}/)")).collect();
                    let mut tests = repository.cargo(&format!("nextest run --workspace {FEATURES} --run-ignored all"));
                    tests.args(["-E", &patterns.join(" and ")]);
                    tests
                } else {
                    let mut tests = repository
                        .cargo(&format!("test --workspace {FEATURES} --lib --bins --tests -- --include-ignored"));
                    tests.args(left_out.iter().flat_map(|part| ["--skip", part]));
                    tests
                };
                tests.env("LEAGUE_PEERS", peers);
                repository.run(tests)
            }
            Self::Windows => windows::check(repository, FEATURES),
            Self::DocTests => repository.run(repository.cargo(&format!("test --workspace {FEATURES} --doc"))),
            Self::Docs => {
                let mut docs =
                    repository.cargo(&format!("doc --workspace {FEATURES} --no-deps --document-private-items"));
                docs.env("RUSTDOCFLAGS", "-D warnings");
                repository.run(docs)
            }
            Self::Unused => repository.run(tools::machete(repository)?),
            Self::Dependencies => repository.run(tools::deny(repository)?),
            Self::Instructions => instructions::check(repository),
            Self::Fuzz => fuzz::run(repository, None, Self::FUZZ_SECONDS),
            Self::Documents => documents::check(repository),
        }
    }
}

pub(crate) fn all(repository: &Repository) -> Outcome {
    let start = Instant::now();
    for (taken, step) in Step::ALL.into_iter().enumerate() {
        say::begin(&format!("{} ({} of {})", step.name(), taken + 1, Step::ALL.len()));
        timed(step, repository)?;
    }
    say::passed(&format!("all of it passed in {:.1} s", start.elapsed().as_secs_f64()));
    Ok(())
}

/// Only `step`.
pub(crate) fn one(step: Step, repository: &Repository) -> Outcome {
    say::begin(step.name());
    timed(step, repository)
}

fn timed(step: Step, repository: &Repository) -> Outcome {
    let (name, start) = (step.name(), Instant::now());
    let outcome = step.check(repository);
    let seconds = start.elapsed().as_secs_f64();
    match outcome {
        Ok(()) => {
            say::passed(&format!("{name} passed in {seconds:.1} s"));
            Ok(())
        }
        Err(problem) => Err(format!(
            "the step `{name}` failed after {seconds:.1} s: {problem}\nalone it runs as: cargo xtask test --only {name}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_found_by_its_name() {
        for step in Step::ALL {
            assert_eq!(Step::named(step.name()), Ok(step));
        }
    }

    #[test]
    fn an_unknown_step_is_answered_with_the_known_ones() {
        let wrong = Step::named("lint").unwrap_err();
        assert!(Step::ALL.iter().all(|step| wrong.contains(step.name())), "{wrong}");
    }
}
