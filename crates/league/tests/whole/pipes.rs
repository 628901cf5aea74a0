//! Closed pipes: a command without a reader ends quietly, with its own exit code.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use crate::support::{TestHome, assert_contains};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Closed {
    Stdout,
    Stderr,
}

fn run(arguments: &[&str], closed: Closed) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_league"));
    command.args(arguments).env("LEAGUE_LOG", "info").stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let mut text = String::new();
    match closed {
        Closed::Stdout => {
            drop(stdout);
            stderr.read_to_string(&mut text).unwrap();
        }
        Closed::Stderr => {
            drop(stderr);
            stdout.read_to_string(&mut text).unwrap();
        }
    }
    (child.wait().unwrap().code(), text)
}

fn ends_quietly(arguments: &[&str]) {
    for closed in [Closed::Stdout, Closed::Stderr] {
        let (code, text) = run(arguments, closed);
        assert_eq!(code, Some(0), "{arguments:?} with {closed:?} closed: {text}");
        assert!(!text.contains("panicked"), "{arguments:?}: {text}");
    }
}

#[test]
fn every_command_ends_quietly_when_its_reader_has_gone() {
    let home = TestHome::new();
    ends_quietly(&["run", "--port", "0", "--home", home.path(), "--players", "12"]);
    ends_quietly(&["run", "--port", "0", "--home", home.path(), "--json"]);
    for command in ["standings", "schedule", "matches", "match R1M1", "agents", "status", "verify"] {
        let arguments: Vec<&str> = command.split(' ').chain(["--home", home.path(), "--json"]).collect();
        ends_quietly(&arguments);
        ends_quietly(&arguments[..arguments.len() - 1]);
    }
    for command in ["simulate --players 100", "simulate --json", "--help", "man", "completions zsh", "leagues"] {
        ends_quietly(&command.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn a_league_whose_readers_have_gone_is_played_to_its_end_and_kept() {
    let home = TestHome::new();
    for (number, closed) in (1..).zip([Closed::Stdout, Closed::Stderr]) {
        let (code, text) = run(&["run", "--port", "0", "--home", home.path(), "--players", "8"], closed);
        assert_eq!(code, Some(0), "{text}");
        home.verify(28);
        assert_eq!(home.json("status")["league_id"].as_str().unwrap().ends_with("_2"), number == 2);
    }
}

#[test]
fn a_check_whose_reader_has_gone_keeps_its_exit_code() {
    let (code, text) = run(&["check", "http://127.0.0.1:1/mcp", "--role", "player"], Closed::Stdout);
    assert_eq!(code, Some(1), "{text}");
    assert!(!text.contains("panicked"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let home = TestHome::new();
    home.run(&[]);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_league"));
    let ended = command.args(["matches", "--home", home.path()]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert_contains(&String::from_utf8(ended.stderr).unwrap(), &["the output could not be written"]);
}
