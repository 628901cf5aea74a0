//! Errors: each says what is wrong and what to do, with exit code 1.

use std::fs;
use std::net::TcpListener;

use rusqlite::Connection;

use crate::support::{Process, TestHome, Venue, league};

#[test]
fn who_comes_when_the_league_has_begun_is_told_so() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &[]);
    let _agents = [venue.referee("REF01"), venue.player("P01", "random"), venue.player("P02", "random")];
    manager.says("The league is over. Serving until Ctrl-C.");
    let told = venue.player("P03", "random").ended().badly();
    assert!(told.contains("did not let us in") && told.contains("Registration closed"), "{told}");
}

#[test]
fn a_league_without_registrations_ends() {
    let home = TestHome::new();
    let manager = league(&["manager", "--port", "0", "--home", home.path(), "--registration-window", "1"]);
    let told = manager.badly();
    assert!(told.contains("registration ended after 1s with 0 of 2 players and 0 referees"), "{told}");
    assert!(told.contains("--registration-window"), "{told}");
}

#[test]
fn a_port_that_is_taken_is_named() {
    let (home, taken) = (TestHome::new(), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = taken.local_addr().unwrap().port().to_string();
    for command in ["run", "manager", "referee", "player"] {
        let told = league(&[command, "--port", &port, "--home", home.path()]).badly();
        assert!(told.contains(&format!("cannot listen on 127.0.0.1:{port}")), "{told}");
        assert!(told.contains("--port") && told.contains("lsof -i"), "{told}");
    }
    // The failed start left nothing behind.
    drop(taken);
    Process::start(&["manager", "--port", &port, "--home", home.path()]).address();
}

#[test]
fn a_configuration_that_cannot_be_read_is_named_with_its_place() {
    let home = TestHome::new();
    fs::create_dir(home.join("config")).unwrap();
    fs::write(home.join("config/system.json"), "{\n  \"network\": {\n    \"base_host\" \"localhost\"\n  }\n}\n")
        .unwrap();
    for command in ["run", "manager", "referee", "player"] {
        let told = league(&[command, "--port", "0", "--home", home.path()]).badly();
        assert!(told.contains("system.json") && told.contains("line 3"), "{told}");
    }
}

#[test]
fn a_value_that_cannot_be_is_named_with_its_key() {
    let home = TestHome::new();
    fs::create_dir(home.join("config")).unwrap();
    fs::write(home.join("config/system.json"), r#"{"timeouts": {"move_timeout_sec": "soon"}}"#).unwrap();
    let told = league(&["run", "--port", "0", "--home", home.path()]).badly();
    assert!(told.contains("system.json") && told.contains("move_timeout_sec") && told.contains("soon"), "{told}");
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
    let refused = |says: &str| {
        for command in [
            &["run", "--port", "0"][..],
            &["run", "--port", "0", "--league-id", "another"],
            &["manager", "--port", "0"],
            &["referee", "--port", "0"],
            &["player", "--port", "0"],
            &["show", "--port", "0"],
            &["match", "R1M1"],
            &["export", "--sqlite", export.to_str().unwrap()],
            &["leagues"],
            &["standings"],
            &["schedule"],
            &["matches"],
            &["agents"],
            &["status"],
            &["verify"],
        ] {
            let told = league(&[command, &["--home", home.path()]].concat()).badly();
            assert!(told.contains(says) && told.contains("use that version, or choose another --home"), "{told}");
        }
    };
    refused("was written by league 0.1.0;");
    assert_eq!(contents(), before);
    fs::write(home.join("home.json"), r#"{"format": 99, "league_version": "9.9.0"}"#).unwrap();
    refused("was written by league 9.9.0;");
}

#[test]
fn an_unknown_strategy_is_refused_with_the_known_ones() {
    let home = TestHome::new();
    let told = league(&["run", "--port", "0", "--home", home.path(), "--strategies", "luck"]).badly();
    assert!(told.contains("luck") && told.contains("markov") && told.contains("frequency"), "{told}");
}

#[test]
fn a_missing_model_configuration_is_reported_before_the_league_begins() {
    let home = TestHome::new();
    for command in [&["run", "--strategies", "random,llm"][..], &["player", "--strategy", "llm"]] {
        let arguments = [command, &["--port", "0", "--home", home.path()]].concat();
        let nothing = ["GEMINI_API_KEY", "OPENAI_API_KEY", "LEAGUE_LLM_BASE_URL"].map(|name| (name, ""));
        let told = Process::start_in(home.path(), &nothing, &arguments).ended().badly();
        assert!(told.contains("no language model is configured: set GEMINI_API_KEY, OPENAI_API_KEY or LEAGUE_LLM_BASE_URL; docs/llm.md"), "{told}");
    }
    assert!(!home.database().exists());
}

#[test]
fn who_waits_for_a_manager_says_so() {
    let home = TestHome::new();
    let arguments = ["player", "--port", "0", "--manager", "http://127.0.0.1:1/mcp", "--home", home.path()];
    Process::start(&arguments).says("Waiting for the manager at http://127.0.0.1:1/mcp");
}
