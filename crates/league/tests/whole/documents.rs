//! The documents show what the binary prints, and their commands work.

use std::collections::BTreeMap;
use std::process::Command;

use crate::support::{Process, TestHome, ports, wait_for_all};

const README: &str = include_str!("../../../../README.md");
const AGENTS: &str = include_str!("../../../../docs/agents.md");
const COMPARE: &str = include_str!("../../../../docs/compare.md");
const OPERATE: &str = include_str!("../../../../docs/operate.md");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn blocks(page: &'static str, language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

#[test]
fn every_readme_example_prints_what_it_shows() {
    let examples: Vec<_> = blocks(README, "text")
        .into_iter()
        .filter_map(|block| block.strip_prefix("$ cargo run --release -- ")?.split_once('\n'))
        .collect();
    assert!(!examples.is_empty(), "the README has lost its example");
    for (arguments, shown) in examples {
        let directory = TestHome::new();
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let printed = Process::start_in(directory.path(), &[], &arguments).wait().success().stdout;
        let lines = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
        assert_eq!(lines(&printed), lines(shown), "{arguments:?}");
    }
}

#[derive(Default)]
struct Ports(BTreeMap<String, String>);

impl Ports {
    fn replaced(&mut self, word: &str) -> String {
        let Some(at) = word.find("80").or_else(|| word.find("81")) else { return word.to_owned() };
        let Some(port) = word.get(at..at + 4).filter(|port| port.bytes().all(|byte| byte.is_ascii_digit())) else {
            return word.to_owned();
        };
        let free = self.0.entry(port.to_owned()).or_insert_with(|| ports::free().to_string());
        word.replace(port, free)
    }
}

/// Runs every line of the `console` blocks of a page, in order and in one directory. Agents run in the background; a
/// league that the page starts is over before the page shows it.
fn run_console_lines_of(page: &'static str) {
    let (directory, mut ports) = (TestHome::new(), Ports::default());
    let (manager_port, player_port) = (ports.replaced("8000"), ports.replaced("8101"));
    let start = |arguments: &[String]| {
        Process::start_in(directory.path(), &[("LEAGUE_MANAGER_PORT", manager_port.as_str())], arguments)
    };
    let (mut managers, mut agents) = (Vec::new(), Vec::new());
    let lines: Vec<&str> = blocks(page, "console").into_iter().flat_map(str::lines).collect();
    assert!(!lines.is_empty(), "the page has lost its console");
    for line in lines {
        let words: Vec<String> = line.split_whitespace().map(|word| ports.replaced(word)).collect();
        let (program, arguments) = words.split_first().unwrap();
        match (program.as_str(), arguments[0].as_str()) {
            ("league", "manager") => managers.push(start(arguments)),
            ("league", "referee" | "player") => agents.push(start(arguments)),
            ("league", "check") => {
                ports::wait_until_listening(player_port.parse().unwrap(), agents.last_mut().unwrap());
                start(arguments).wait().success();
            }
            ("league", _) => {
                if let Some(manager) = managers.first_mut().filter(|_| !agents.is_empty()) {
                    wait_for_all(agents.drain(..));
                    // Agents learn of the end before the last files are written.
                    manager.wait_for_line("The league is over.");
                }
                let printed = start(arguments).wait().success();
                assert!(!(printed.stdout + &printed.stderr).is_empty(), "{line}");
            }
            ("python3", kit) => {
                let mut command = Command::new(program);
                command.arg(format!("{ROOT}/{kit}")).args(&arguments[1..]).args(["--port", &player_port, "--manager"]);
                command.arg(format!("127.0.0.1:{manager_port}")).env("PYTHONDONTWRITEBYTECODE", "1");
                command.current_dir(directory.path());
                agents.push(Process::of(command));
            }
            (_, _) => panic!("the test cannot run {line}"),
        }
    }
    wait_for_all(agents);
}

#[test]
fn every_console_command_of_the_operator_guides_works() {
    for page in [OPERATE, COMPARE] {
        run_console_lines_of(page);
    }
}

#[test]
#[ignore = "needs cargo xtask ci, which makes sure of Python"]
fn every_command_for_authors_of_agents_works() {
    run_console_lines_of(AGENTS);
}
