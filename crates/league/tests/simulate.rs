//! `league simulate` as a command.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::process::{Command, Output};

fn league(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_league")).args(arguments).output().unwrap()
}

#[test]
fn data_is_on_stdout_and_talk_on_stderr() {
    let ran = league(&["simulate", "--players", "5", "--seed", "1", "--json"]);
    assert!(ran.status.success());
    let standings: Vec<serde_json::Value> = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(standings.len(), 5);
    assert!(standings.iter().all(|row| row["played"] == 4));
    let talk = String::from_utf8(ran.stderr).unwrap();
    assert!(talk.contains("5 players, 5 rounds, 10 matches") && talk.contains("Champion: "), "{talk}");
}

#[test]
fn a_seed_repeats_a_league_and_none_does_not_fail() {
    let standings = |seed: &str| league(&["simulate", "--players", "8", "--seed", seed, "--json"]).stdout;
    assert_eq!(standings("7"), standings("7"));
    assert_ne!(standings("7"), standings("8"));
    assert!(league(&["simulate"]).status.success());
}

#[test]
fn wrong_arguments_are_named_and_end_with_2() {
    for arguments in [&["simulate", "--players", "1"][..], &["simulate", "--players", "x"], &["play"], &["--nonsense"]]
    {
        let ran = league(arguments);
        assert_eq!(ran.status.code(), Some(2), "{arguments:?}");
        let talk = String::from_utf8(ran.stderr).unwrap();
        assert!(talk.starts_with("error: ") && talk.contains("--help"), "{talk}");
    }
}
