//! What the README shows is what the binary prints, and what it tells to type works.

use std::collections::BTreeMap;

use crate::support::{Process, TestHome, ports};

const README: &str = include_str!("../../../../README.md");

/// The fenced blocks of a language.
fn blocks(language: &str) -> impl Iterator<Item = &'static str> {
    let fence = format!("```{language}\n");
    README.split(&fence).skip(1).filter_map(|rest| rest.split("\n```").next()).collect::<Vec<_>>().into_iter()
}

/// The examples of the README: the arguments after `cargo run --release --`, and what is shown below them.
fn examples() -> impl Iterator<Item = (&'static str, &'static str)> {
    blocks("text").filter_map(|block| block.strip_prefix("$ cargo run --release -- ")?.split_once('\n'))
}

#[test]
fn every_example_prints_what_is_shown() {
    assert!(examples().count() > 0, "the README has lost its example");
    for (arguments, shown) in examples() {
        let somewhere = TestHome::new();
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let printed = Process::start_in(somewhere.path(), &[], &arguments).ended().well().out;
        let lines = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
        assert_eq!(lines(&printed), lines(shown), "{arguments:?}");
    }
}

/// Ports of the README, each with one that is free here.
#[derive(Default)]
struct Ports(BTreeMap<String, String>);

impl Ports {
    /// `word` with another port, where it holds one of those from 8000 to 8199.
    fn replaced(&mut self, word: &str) -> String {
        let Some(at) = word.find("80").or_else(|| word.find("81")) else { return word.to_owned() };
        let Some(port) = word.get(at..at + 4).filter(|port| port.bytes().all(|byte| byte.is_ascii_digit())) else {
            return word.to_owned();
        };
        let free = self.0.entry(port.to_owned()).or_insert_with(|| ports::free().to_string());
        word.replace(port, free)
    }
}

/// Every line of the `console` blocks, typed in one directory: agents in terminals of their own, and when the agents that
/// end have ended, the rest one after the other.
#[test]
fn every_command_of_the_consoles_works() {
    let (somewhere, mut ports) = (TestHome::new(), Ports::default());
    // Where everybody looks for the manager who was not told otherwise.
    let manager_port = ports.replaced("8000");
    let environment = [("LEAGUE_MANAGER_PORT", manager_port.as_str())];
    let (mut serving, mut ending, mut looking, mut grading) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for line in blocks("console").flat_map(str::lines) {
        let words: Vec<String> = line.split_whitespace().map(|word| ports.replaced(word)).collect();
        let (program, arguments) = words.split_first().unwrap();
        assert_eq!(program, "league", "{line}");
        match arguments[0].as_str() {
            "manager" => serving.push(Process::start_in(somewhere.path(), &environment, arguments)),
            "referee" | "player" => ending.push(Process::start_in(somewhere.path(), &environment, arguments)),
            "check" => grading.push(arguments.to_vec()),
            _ => looking.push(arguments.to_vec()),
        }
    }
    assert!(serving.len() == 1 && ending.len() == 3 && !looking.is_empty(), "the README has lost a console");
    for agent in ending {
        agent.ended().well();
    }
    // The agents are told of the end before the last files are there.
    serving[0].says("The league is over.");
    for arguments in looking {
        let printed = Process::start_in(somewhere.path(), &environment, &arguments).ended().well();
        assert!(!printed.out.is_empty(), "{arguments:?}");
    }
    // The league is over and its players are gone: one that has not found a league yet is graded.
    for arguments in grading {
        let (alone, player_port) = (TestHome::new(), ports.replaced("8101"));
        let nobody = [("LEAGUE_MANAGER_PORT", "1")];
        let mut player = Process::start_in(alone.path(), &nobody, &["player", "--port", &player_port]);
        player.says("Waiting for the manager");
        Process::start_in(somewhere.path(), &environment, &arguments).ended().well();
    }
}
