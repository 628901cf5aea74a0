//! What does not work, and what is said about it: always what is wrong and what to do, and exit code 1.

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
fn a_league_that_nobody_comes_to_ends() {
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
        assert!(told.contains(&format!("cannot listen on 127.0.0.1:{port}")) && told.contains("--port"), "{told}");
    }
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

#[test]
fn a_home_of_a_newer_version_is_left_alone() {
    let home = TestHome::new();
    league(&["run", "--port", "0", "--players", "2", "--home", home.path()]).well();
    let database = Connection::open(home.database()).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    database.close().unwrap();
    for command in ["run", "manager", "standings", "verify"] {
        let place = ["--home", home.path(), "--port", "0"];
        let place = if matches!(command, "run" | "manager") { &place[..] } else { &place[..2] };
        let told = league(&[&[command], place].concat()).badly();
        assert!(told.contains("league.db") && told.contains("99") && told.contains("newer"), "{told}");
    }
}

#[test]
fn the_second_manager_of_a_home_is_told_who_was_first() {
    let home = TestHome::new();
    let arguments = ["manager", "--port", "0", "--home", home.path()];
    let mut first = Process::start(&arguments);
    first.address();
    let told = league(&arguments).badly();
    assert!(told.contains(&format!("is held by process {}", first.id())), "{told}");
}

#[test]
fn a_strategy_that_nobody_knows_is_answered_with_those_there_are() {
    let home = TestHome::new();
    let told = league(&["run", "--port", "0", "--home", home.path(), "--strategies", "luck"]).badly();
    assert!(told.contains("luck") && told.contains("markov") && told.contains("frequency"), "{told}");
}

#[test]
fn a_language_model_that_nobody_configured_is_asked_for_before_anything_begins() {
    let home = TestHome::new();
    for command in [&["run", "--strategies", "random,llm"][..], &["player", "--strategy", "llm"]] {
        let arguments = [command, &["--port", "0", "--home", home.path()]].concat();
        let nothing = ["GEMINI_API_KEY", "OPENAI_API_KEY", "LEAGUE_LLM_BASE_URL"].map(|name| (name, ""));
        let told = Process::start_in(home.path(), &nothing, &arguments).ended().badly();
        assert!(told.contains("no language model is configured: set GEMINI_API_KEY"), "{told}");
    }
    assert!(!home.database().exists());
}

#[test]
fn who_waits_for_a_manager_says_so() {
    let home = TestHome::new();
    let arguments = ["player", "--port", "0", "--manager", "http://127.0.0.1:1/mcp", "--home", home.path()];
    Process::start(&arguments).says("Waiting for the manager at http://127.0.0.1:1/mcp");
}
