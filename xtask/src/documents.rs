//! The documents tell the truth: what they tell to type works, and what they link to exists.

use std::fs;
use std::process::Command;

use crate::args::{self, Task};
use crate::markdown::{Found, commands, relative_links};
use crate::{Outcome, Repository};

/// All at the root, where their links begin. One that is not written yet promises nothing.
const DOCUMENTS: [&str; 4] = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "PROTOCOL.md"];

/// Follows every link and runs every command.
pub(crate) fn check(repository: &Repository) -> Outcome {
    let mut texts = Vec::new();
    for name in DOCUMENTS.into_iter().filter(|name| repository.root.join(name).exists()) {
        let text = fs::read_to_string(repository.root.join(name)).map_err(|e| format!("cannot read {name}: {e}"))?;
        texts.push((name, text));
    }
    // Links first, all of them: they cost nothing.
    let dead: Vec<String> = texts
        .iter()
        .flat_map(|(name, text)| relative_links(text).into_iter().map(move |link| (name, link)))
        .filter(|(_, link)| !repository.root.join(&link.text).exists())
        .map(|(name, Found { line, text })| format!("\n  {name}:{line} links to {text}, which does not exist"))
        .collect();
    if !dead.is_empty() {
        return Err(format!("dead links:{}", dead.concat()));
    }
    for (name, text) in &texts {
        for command in commands(text) {
            obey(repository, &command.text).map_err(|problem| format!("{name}:{}: {problem}", command.line))?;
        }
    }
    Ok(())
}

/// What to do about a command.
#[derive(Debug, PartialEq, Eq)]
enum Order {
    /// A shell runs it.
    Run,
    /// A task of ours that takes its time, or this very run: that it exists is enough.
    Exists,
}

fn obey(repository: &Repository, command: &str) -> Outcome {
    match order(command)? {
        Order::Run => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(command);
            repository.run(shell)
        }
        Order::Exists => {
            eprintln!("    {command} (is a task; not run from here)");
            Ok(())
        }
    }
}

fn order(command: &str) -> Result<Order, String> {
    let words: Vec<&str> = command.split_whitespace().take_while(|word| !word.starts_with('#')).collect();
    match words[..] {
        [".ci/run"] => Ok(Order::Exists),
        ["cargo", "xtask", ref task @ ..] => {
            match args::parse(task).map_err(|wrong| format!("`{command}`: {wrong}"))? {
                Task::Help => Ok(Order::Run),
                Task::Test { .. }
                | Task::Bench
                | Task::Bless
                | Task::Fuzz { .. }
                | Task::Load
                | Task::Simulate { .. } => Ok(Order::Exists),
            }
        }
        [..] => Ok(Order::Run),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_of_our_own_are_not_run_from_within_a_task() {
        for command in
            [".ci/run", "cargo xtask test", "cargo xtask bench", "cargo xtask fuzz --seconds 20  # or longer"]
        {
            assert_eq!(order(command), Ok(Order::Exists), "{command}");
        }
        for command in ["cargo run --release", "cargo xtask --help", "cargo xtask", "cargo"] {
            assert_eq!(order(command), Ok(Order::Run), "{command}");
        }
    }

    #[test]
    fn a_task_that_does_not_exist_is_refused() {
        assert!(order("cargo xtask tset").unwrap_err().contains("`tset`"));
        assert!(order("cargo xtask test --only lint").is_err());
    }
}
