//! What was asked for: the words after `cargo xtask`, as a task.
//!
//! Documents are held to the same reading: a `cargo xtask` line in one of them must be a task.

use crate::steps::Step;

pub(crate) const HELP: &str = "\
The workspace's own tasks.

cargo xtask test                         everything that must hold before a change is merged
cargo xtask test --only <step>           one of: format clippy tests windows doctests docs unused dependencies instructions fuzz documents
cargo xtask bench                        the benchmarks
cargo xtask performance                  measure everything with `league bench`, and write the tables of docs/performance.md anew
cargo xtask viewers                      how fast pages are, and what 500 viewers cost the league that they watch
cargo xtask picture                      the pictures of the README, taken in a browser
cargo xtask bless                        rewrite golden files and generated documentation
cargo xtask fuzz [target] [--seconds n]  feed what coverage finds interesting to one fuzz target, or to each (60 s)
cargo xtask simulate [--runs n] [--seed n]
                                         the whole league in a simulation that breaks it (10000 runs); one run is told in full
cargo xtask load                         one referee, 1000 matches at a time, 2000 players, a million calls: nobody is charged who answers
cargo xtask dist                         the archives to download, for Windows and Linux, with their checksums: target/dist
cargo xtask --help                       this list
";

const SECONDS: u32 = 60;
const RUNS: u64 = 10_000;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Help,
    Test {
        only: Option<Step>,
    },
    Bench,
    /// Measure everything, for the page on performance.
    Performance,
    /// Measure what those who look cost, and what they get.
    Viewers,
    Picture,
    /// Accept what the code says now.
    Bless,
    /// Fuzz one target or each, for so long.
    Fuzz {
        target: Option<String>,
        seconds: u32,
    },
    Dist,
    Load,
    /// Simulate so many leagues, from this seed on.
    Simulate {
        runs: u64,
        seed: u64,
    },
}

/// The task that `words` ask for, or why there is none.
pub(crate) fn parse<Word: AsRef<str>>(words: &[Word]) -> Result<Task, String> {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    if words.iter().any(|word| matches!(*word, "--help" | "-h")) {
        return Ok(Task::Help);
    }
    match words[..] {
        [] => Ok(Task::Help),
        ["test"] => Ok(Task::Test { only: None }),
        ["test", "--only", step] => Step::named(step).map(|step| Task::Test { only: Some(step) }),
        ["bench"] => Ok(Task::Bench),
        ["performance"] => Ok(Task::Performance),
        ["viewers"] => Ok(Task::Viewers),
        ["picture"] => Ok(Task::Picture),
        ["bless"] => Ok(Task::Bless),
        ["load"] => Ok(Task::Load),
        ["dist"] => Ok(Task::Dist),
        ["fuzz", ref rest @ ..] => fuzz(rest),
        ["simulate", ref rest @ ..] => simulate(rest),
        ["test", ..] => Err("`test` takes nothing but `--only <step>`".into()),
        [task @ ("bench" | "performance" | "viewers" | "picture" | "bless" | "load" | "dist"), ..] => {
            Err(format!("`{task}` takes no arguments"))
        }
        [unknown, ..] => Err(format!("there is no task `{unknown}`")),
    }
}

fn fuzz(words: &[&str]) -> Result<Task, String> {
    let (target, rest) = match words {
        [target, rest @ ..] if !target.starts_with('-') => (Some((*target).to_owned()), rest),
        rest => (None, rest),
    };
    match rest {
        [] => Ok(Task::Fuzz { target, seconds: SECONDS }),
        ["--seconds", text] => match text.parse() {
            // To libFuzzer, zero is forever.
            Ok(seconds) if seconds > 0 => Ok(Task::Fuzz { target, seconds }),
            Ok(_) | Err(_) => Err(format!("`--seconds` takes a whole number above zero, not `{text}`")),
        },
        [unknown, ..] => Err(format!("`fuzz` takes a target and `--seconds <n>`; what is `{unknown}`?")),
    }
}

fn simulate(words: &[&str]) -> Result<Task, String> {
    let (mut runs, mut seed, mut rest) = (RUNS, 0, words);
    while let [name, after @ ..] = rest {
        let number = match (name, after) {
            (&("--runs" | "--seed"), [text, ..]) => {
                text.parse().map_err(|_| format!("`{name}` takes a whole number, not `{text}`"))?
            }
            (&("--runs" | "--seed"), []) => return Err(format!("`{name}` takes a whole number")),
            (unknown, _) => {
                return Err(format!("`simulate` takes `--runs <n>` and `--seed <n>`; what is `{unknown}`?"));
            }
        };
        if *name == "--runs" {
            runs = number;
        } else {
            seed = number;
        }
        rest = &after[1..];
    }
    Ok(Task::Simulate { runs, seed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Task, String> {
        parse(&line.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn nothing_and_help_show_the_list() {
        for line in ["", "--help", "-h", "test --help"] {
            assert_eq!(parsed(line), Ok(Task::Help), "{line}");
        }
    }

    #[test]
    fn tasks_are_read_with_their_options() {
        assert_eq!(parsed("test"), Ok(Task::Test { only: None }));
        assert_eq!(parsed("test --only clippy"), Ok(Task::Test { only: Some(Step::Clippy) }));
        assert_eq!(parsed("bench"), Ok(Task::Bench));
        assert_eq!(parsed("performance"), Ok(Task::Performance));
        assert_eq!(parsed("viewers"), Ok(Task::Viewers));
        assert_eq!(parsed("picture"), Ok(Task::Picture));
        assert_eq!(parsed("bless"), Ok(Task::Bless));
        assert_eq!(parsed("load"), Ok(Task::Load));
        assert_eq!(parsed("dist"), Ok(Task::Dist));
        assert_eq!(parsed("fuzz"), Ok(Task::Fuzz { target: None, seconds: SECONDS }));
        assert_eq!(parsed("fuzz frame"), Ok(Task::Fuzz { target: Some("frame".into()), seconds: SECONDS }));
        assert_eq!(parsed("fuzz --seconds 5"), Ok(Task::Fuzz { target: None, seconds: 5 }));
        assert_eq!(parsed("fuzz frame --seconds 5"), Ok(Task::Fuzz { target: Some("frame".into()), seconds: 5 }));
        assert_eq!(parsed("simulate"), Ok(Task::Simulate { runs: RUNS, seed: 0 }));
        assert_eq!(parsed("simulate --seed 7 --runs 1"), Ok(Task::Simulate { runs: 1, seed: 7 }));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (line, named) in [
            ("tset", "`tset`"),
            ("bench fast", "`bench`"),
            ("test clippy", "`--only <step>`"),
            ("test --only lint", "`lint`"),
            ("fuzz --seconds soon", "`soon`"),
            ("fuzz --seconds 0", "`0`"),
            ("fuzz frame --quickly", "`--quickly`"),
            ("simulate --runs many", "`many`"),
            ("simulate --seed", "`--seed`"),
            ("simulate everything", "`everything`"),
        ] {
            let wrong = parsed(line).unwrap_err();
            assert!(wrong.contains(named), "{line}: {wrong}");
        }
    }

    #[test]
    fn the_list_names_every_step() {
        for step in Step::ALL {
            assert!(HELP.contains(&format!(" {}", step.name())), "{}", step.name());
        }
    }
}
