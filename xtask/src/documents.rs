//! The documents tell the truth: what they tell to type works, and what they link to exists.

use std::fs;
use std::process::Command;

use crate::args::{self, Task};
use crate::markdown::{Found, commands, relative_links};
use crate::repository::TRIED;
use crate::{Outcome, Repository};

/// One that is not written yet promises nothing.
const DOCUMENTS: [&str; 22] = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "PROTOCOL.md",
    "SECURITY.md",
    "docs/agents.md",
    "docs/code.md",
    "docs/compare.md",
    "docs/llm.md",
    "docs/operate.md",
    "docs/orchestrator.md",
    "docs/performance.md",
    "docs/release.md",
    "docs/strategies.md",
    "docs/windows.md",
    "examples/README.md",
    "examples/node-plain/README.md",
    "examples/python-fastmcp/README.md",
    "examples/python-stdlib/README.md",
    "examples/rust-player/README.md",
    "examples/typescript-sdk/README.md",
];

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
        // Links begin where their document is.
        .filter(|(name, link)| !repository.root.join(name).with_file_name(&link.text).exists())
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
    Run,
    /// A task of ours that takes its time, or this very run: that it exists is enough.
    Exists,
}

fn obey(repository: &Repository, command: &str) -> Outcome {
    match order(command)? {
        Order::Run => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(command).envs(TRIED);
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
                | Task::Performance
                | Task::Viewers
                | Task::Picture
                | Task::Bless
                | Task::Fuzz { .. }
                | Task::Load
                | Task::Dist
                | Task::Simulate { .. } => Ok(Order::Exists),
            }
        }
        [..] => Ok(Order::Run),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Every line of Rust below `directory`.
    fn sources(directory: &Path, found: &mut String) {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                found.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }

    fn document(name: &str) -> String {
        fs::read_to_string(root().join(name)).unwrap()
    }

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    /// What stands in backticks in `text`.
    fn quoted(text: &str) -> impl Iterator<Item = &str> {
        text.split('`').skip(1).step_by(2)
    }

    /// Fails unless every one of `names` is a function in the sources.
    fn assert_all_exist(names: &[&str]) {
        let mut code = String::new();
        for directory in ["crates", "examples", "xtask"] {
            sources(&root().join(directory), &mut code);
        }
        let missing: Vec<_> = names.iter().filter(|name| !code.contains(&format!("fn {name}("))).collect();
        assert!(missing.is_empty(), "no such tests: {missing:#?}");
    }

    #[test]
    fn every_test_that_the_page_on_security_names_exists() {
        let page = document("SECURITY.md");
        let letters = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let named: Vec<_> = quoted(&page).filter(|word| letters(word) && word.matches('_').count() >= 3).collect();
        assert!(named.len() > 40, "the page has lost its tests: {named:?}");
        assert_all_exist(&named);
    }

    #[test]
    fn every_requirement_has_a_status_and_a_test_that_exists() {
        let page = document("docs/conformance.md");
        let rows: Vec<Vec<&str>> = page
            .lines()
            .filter(|line| line.starts_with("| S") && line.as_bytes().get(3).is_some_and(u8::is_ascii_digit))
            .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
            .collect();
        let (counts, requirements): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| row[1..].iter().all(|cell| cell.parse::<u32>().is_ok()));
        let mut named = Vec::new();
        for row in &requirements {
            let &[_, _, _, status, tests] = row.as_slice() else { panic!("not five columns: {row:?}") };
            let tests: Vec<_> = quoted(tests).collect();
            match status {
                "works" | "decided" => assert!(!tests.is_empty(), "no test is named: {row:?}"),
                "planned" => {}
                other => panic!("unknown status {other}: {row:?}"),
            }
            named.extend(tests);
        }
        for count in counts {
            let of = |status: &str| requirements.iter().filter(|row| row[0] == count[0] && row[3] == status).count();
            let [works, decided, planned] = ["works", "decided", "planned"].map(of);
            let counted = [works + decided + planned, works, decided, planned].map(|n| n.to_string());
            assert_eq!(count[1..], counted, "the counts of {}", count[0]);
        }
        assert_eq!(requirements.len(), 253);
        assert_all_exist(&named);
    }

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
