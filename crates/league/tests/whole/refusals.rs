//! Errors: each says what is wrong and what to do.

use std::fs;
use std::net::TcpListener;

use rusqlite::Connection;

use crate::support::{Process, TestHome, assert_contains};

/// Exit code 2 stands for wrong arguments.
#[test]
fn an_error_names_what_is_wrong_and_what_to_do() {
    let nowhere = "http://127.0.0.1:1/mcp";
    let cases: &[(i32, &[&str], &[&str])] = &[
        (2, &["simulate", "--players", "1"], &["error: ", "--help"]),
        (2, &["simulate", "--players", "x"], &["error: ", "--help"]),
        (2, &["play"], &["error: ", "--help"]),
        (2, &["--nonsense"], &["error: ", "--help"]),
        (2, &["completions", "tcsh"], &["bash, elvish, fish, powershell, zsh"]),
        (2, &["check", "not a url"], &[]),
        (1, &["check", nowhere, "--set", "league.v9"], &["league.v2/2026-11"]),
        (
            2,
            &["status", "--home", "x", "--manager", nowhere],
            &["'--home <HOME>' cannot be used with '--manager <URL>'"],
        ),
        (
            1,
            &["standings", "--manager", nowhere],
            &["the manager at http://127.0.0.1:1/mcp does not answer", "--manager"],
        ),
        (1, &["man", "/nowhere/at/all"], &["/nowhere/at/all is not a directory"]),
        (1, &["run", "--config", "/nowhere/league.json"], &["/nowhere/league.json cannot be read"]),
        (1, &["run", "--strategies", "luck"], &["luck", "markov", "frequency"]),
        (1, &["show"], &["--home"]),
        (
            1,
            &["manager", "--port", "0", "--registration-window", "1"],
            &["registration ended after 1s with 0 of 2 players and 0 referees", "--registration-window"],
        ),
    ];
    for (code, arguments, parts) in cases {
        let directory = TestHome::new();
        let exit = Process::start_in(directory.path(), &[], arguments).wait();
        assert_eq!(exit.code, Some(*code), "{arguments:?}: {}", exit.stderr);
        assert_contains(&exit.stderr, parts);
    }
}

#[test]
fn a_taken_port_is_reported_and_no_league_begins() {
    let (home, taken) = (TestHome::new(), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = taken.local_addr().unwrap().port().to_string();
    let taken_port = format!("cannot listen on 127.0.0.1:{port}");
    for command in ["run", "manager", "referee", "player"] {
        home.league(&[command, "--port", &port]).fails_with(&[&taken_port, "--port", "lsof -i"]);
        if command == "run" {
            assert_eq!(home.list("leagues").len(), 0);
        }
    }
    drop(taken);
    home.start(&["manager", "--port", &port]).address();
}

#[test]
fn an_unreadable_configuration_is_reported_with_its_place() {
    let home = TestHome::new();
    fs::create_dir(home.join("config")).unwrap();
    for (text, parts) in [
        ("{\n  \"network\": {\n    \"base_host\" \"localhost\"\n  }\n}\n", &["system.json", "line 3"][..]),
        (r#"{"timeouts": {"move_timeout_sec": "soon"}}"#, &["system.json", "move_timeout_sec", "soon"]),
    ] {
        fs::write(home.join("config/system.json"), text).unwrap();
        for command in ["run", "manager", "referee", "player"] {
            home.league(&[command, "--port", "0"]).fails_with(parts);
        }
    }
}

/// A home of league 0.1.0: a log of format 1 with a finished league.
fn old_home() -> TestHome {
    let home = TestHome::new();
    fs::create_dir_all(home.database().parent().unwrap()).unwrap();
    let database = Connection::open(home.database()).unwrap();
    let tables = "PRAGMA journal_mode = WAL; PRAGMA user_version = 1;
        CREATE TABLE events (
            seq INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, hash BLOB NOT NULL
        ) STRICT;
        CREATE TABLE league (
            league_id TEXT PRIMARY KEY, game_type TEXT NOT NULL, status TEXT NOT NULL, halted INTEGER NOT NULL,
            current_round INTEGER NOT NULL, opened_at TEXT NOT NULL
        ) STRICT;
        INSERT INTO events VALUES (
            1, '2025-01-15T10:30:00Z', 'league_completed', '{\"at\":\"2025-01-15T10:30:00Z\",\"fact\":\"league_completed\"}',
            zeroblob(32)
        );";
    database.execute_batch(tables).unwrap();
    // Left open, as by a killed process: part of the log is in a separate file.
    std::mem::forget(database);
    fs::create_dir_all(home.join("data/players/P01")).unwrap();
    fs::write(home.join("data/players/P01/history.json"), "{}").unwrap();
    home
}

#[test]
fn a_home_of_another_version_is_refused_by_every_command_and_not_changed() {
    let home = old_home();
    let contents = || {
        let mut files: Vec<_> = home.files().into_iter().map(|path| (fs::read(&path).unwrap(), path)).collect();
        files.sort();
        files
    };
    let before = contents();
    let export = home.join("export.sqlite");
    let expect_refusals = |version: &str| {
        let servers = ["run", "manager", "referee", "player", "show"].map(|command| vec![command, "--port", "0"]);
        let readers =
            ["leagues", "standings", "schedule", "matches", "agents", "status", "verify"].map(|name| vec![name]);
        let export = vec!["export", "--sqlite", export.to_str().unwrap()];
        let others = [vec!["run", "--port", "0", "--league-id", "another"], vec!["match", "R1M1"], export];
        for command in servers.into_iter().chain(readers).chain(others) {
            let written = format!("was written by league {version};");
            home.league(&command).fails_with(&[&written, "use that version, or choose another --home"]);
        }
    };
    expect_refusals("0.1.0");
    assert_eq!(contents(), before);
    fs::write(home.join("home.json"), r#"{"format": 99, "league_version": "9.9.0"}"#).unwrap();
    expect_refusals("9.9.0");
}

#[test]
fn a_missing_model_configuration_is_reported_before_the_league_begins() {
    let home = TestHome::new();
    for command in [&["run", "--strategies", "random,llm"][..], &["player", "--strategy", "llm"]] {
        let arguments = [command, &["--port", "0", "--home", home.path()]].concat();
        let empty = ["GEMINI_API_KEY", "OPENAI_API_KEY", "LEAGUE_LLM_BASE_URL"].map(|name| (name, ""));
        Process::start_in(home.path(), &empty, &arguments).wait().fails_with(&[
            "no language model is configured: set GEMINI_API_KEY, OPENAI_API_KEY or LEAGUE_LLM_BASE_URL; docs/llm.md",
        ]);
    }
    assert!(!home.database().exists());
}
