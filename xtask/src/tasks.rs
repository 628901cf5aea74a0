//! The list of tasks: for `cargo xtask`, and for the check of commands in documents.

use crate::steps::{self, CI, SOAK, Step, TEST};
use crate::{Outcome, Repository, bench, bless, dist, fuzz, image, picture, postgres};

pub(crate) struct Task {
    name: &'static str,
    about: &'static str,
    takes: Takes,
}

type Run = fn(&Repository, &[&str]) -> Outcome;

enum Takes {
    Nothing(fn(&Repository) -> Outcome),
    Step(&'static [Step]),
    Numbers(&'static [&'static str], Run),
    /// Passed on to a program; the text is for the help.
    Anything(&'static str, Run),
}

const fn task(name: &'static str, about: &'static str, takes: Takes) -> Task {
    Task { name, about, takes }
}

const TASKS: &[Task] = &[
    task("test", "what a change must pass; needs Rust and a C compiler, nothing else", Takes::Step(TEST)),
    task("ci", "what continuous integration runs after `test`; installs the tools that it needs", Takes::Step(CI)),
    task("soak", "long runs, for a figure or a release: about two hours", Takes::Step(SOAK)),
    task("bless", "rewrite golden files, generated documentation and instruction counts", Takes::Nothing(bless::all)),
    task(
        "bench",
        "measure whole leagues, and compare with an earlier report",
        Takes::Anything("[--json FILE] [--compare FILE] [--help]", bench::league),
    ),
    task(
        "performance",
        "measure everything and rewrite the tables of docs/performance.md",
        Takes::Nothing(bench::performance),
    ),
    task(
        "viewers",
        "measure what 500 viewers cost a league, and how soon they see an event",
        Takes::Nothing(bench::viewers),
    ),
    task(
        "load",
        "one referee, 1,000 matches at a time: a player that answers in time is never charged",
        Takes::Anything("[--calls N] [--matches N] [--help]", bench::load),
    ),
    task(
        "crowd",
        "a Swiss league of 10,000 players with referees that pull: a match costs at most 1.3 of one of 1,000 players",
        Takes::Anything("[--players N] [--rounds N] [--help]", bench::crowd),
    ),
    task(
        "stores",
        "results per second on PostgreSQL: at least 0.7 of those on SQLite",
        Takes::Anything("[--players N] [--turns N] [--help]", postgres::stores),
    ),
    task(
        "simulate",
        "simulated leagues with faults (10,000); a single run is printed in full",
        Takes::Numbers(&["--runs", "--seed"], steps::simulate),
    ),
    task(
        "fuzz",
        "coverage-guided fuzzing of one target, or of each for 60 s",
        Takes::Anything("[target] [--seconds N]", fuzz::task),
    ),
    task(
        "picture",
        "take the README's pictures in a browser, and every page in its states: target/pictures",
        Takes::Nothing(picture::take),
    ),
    task("image", "build and try an image for containers (OCI): target/image", Takes::Nothing(image::task)),
    task("dist", "build and try the downloads for Windows and Linux: target/dist", Takes::Nothing(dist::make)),
];

impl Task {
    pub(crate) fn run(&self, repository: &Repository, arguments: &[&str]) -> Outcome {
        match self.takes {
            Takes::Nothing(run) => run(repository),
            Takes::Step(steps) => steps::run(repository, self.name, steps, arguments.first().copied()),
            Takes::Numbers(_, run) | Takes::Anything(_, run) => run(repository, arguments),
        }
    }
}

/// `None` if the user asks for help.
pub(crate) fn parse<'w>(words: &'w [&'w str]) -> Result<Option<(&'static Task, &'w [&'w str])>, String> {
    let [name, arguments @ ..] = words else { return Ok(None) };
    if ["--help", "-h", "help"].contains(name) {
        return Ok(None);
    }
    let task = TASKS.iter().find(|task| task.name == *name);
    let task = task.ok_or_else(|| format!("there is no task `{name}`"))?;
    match (&task.takes, arguments) {
        (Takes::Nothing(_) | Takes::Step(_), []) | (Takes::Anything(..), _) => {}
        (Takes::Nothing(_), [word, ..]) => return Err(format!("`{name}` takes no arguments, not `{word}`")),
        (Takes::Step(steps), [step]) if steps.iter().any(|known| known.name == *step) => {}
        (Takes::Step(steps), [word, ..]) => {
            let known: Vec<&str> = steps.iter().map(|step| step.name).collect();
            return Err(format!("`{name}` has no step `{word}`; its steps are {}", known.join(", ")));
        }
        (Takes::Numbers(options, _), _) => {
            for pair in arguments.chunks(2) {
                let valid =
                    matches!(pair, [option, number] if options.contains(option) && number.parse::<u64>().is_ok());
                if !valid {
                    return Err(format!(
                        "`{name}` takes {} with a whole number, not `{}`",
                        options.join(" and "),
                        pair.join(" ")
                    ));
                }
            }
        }
    }
    Ok(Some((task, arguments)))
}

pub(crate) fn help() -> String {
    let mut text = String::from("The workspace's own tasks: cargo xtask <task>\n\n");
    for Task { name, takes, about, .. } in TASKS {
        let takes = match takes {
            Takes::Nothing(_) => String::new(),
            Takes::Step(_) => String::from(" [step]"),
            Takes::Numbers(options, _) => options.iter().map(|option| format!(" [{option} N]")).collect(),
            Takes::Anything(shown, _) => format!(" {shown}"),
        };
        text += &format!("  {:<46} {about}\n", format!("{name}{takes}"));
    }
    for Task { name, takes, .. } in TASKS {
        if let Takes::Step(steps) = takes {
            text += &format!("\nSteps of `cargo xtask {name}`, and what each guards:\n");
            for step in *steps {
                text += &format!("  {:<14} {}\n", step.name, step.guards);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Option<&'static str>, String> {
        parse(&line.split_whitespace().collect::<Vec<_>>()).map(|found| found.map(|(task, _)| task.name))
    }

    #[test]
    fn a_task_is_found_by_its_name_and_takes_only_its_arguments() {
        for line in ["", "--help", "help"] {
            assert_eq!(parsed(line), Ok(None), "{line}");
        }
        for (line, name) in [
            ("test", "test"),
            ("test lints", "test"),
            ("ci fuzz", "ci"),
            ("bench --compare before.json", "bench"),
            ("simulate --seed 7 --runs 1", "simulate"),
        ] {
            assert_eq!(parsed(line), Ok(Some(name)), "{line}");
        }
        for (line, named) in [
            ("tset", "`tset`"),
            ("bless all", "`all`"),
            ("test spelling", "`spelling`"),
            ("simulate --runs many", "`--runs many`"),
            ("simulate --seed", "`--seed`"),
            ("simulate everything", "`everything`"),
        ] {
            let wrong = parsed(line).unwrap_err();
            assert!(wrong.contains(named), "{line}: {wrong}");
        }
    }
}
