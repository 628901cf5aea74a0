//! Leagues whose log is in PostgreSQL. `cargo xtask ci postgres` starts the server and names it in `LEAGUE_POSTGRES`.

pub(crate) mod server;
pub(crate) mod serving;
pub(crate) mod standbys;
mod three_stores;

use serde_json::Value;

use crate::support::{Exit, Process, TestHome, read_json};

fn store() -> String {
    std::env::var("LEAGUE_POSTGRES").unwrap()
}

/// The tests share a database, so each has its own league.
fn named(test: &str) -> String {
    format!("{test}_{}", std::process::id())
}

fn league(home: &TestHome, league: &str, arguments: &[&str]) -> Exit {
    let all = [arguments, &["--home", home.path(), "--league-id", league]].concat();
    Process::start_in(home.path(), &[("LEAGUE_STORE", &store())], &all).wait()
}

fn without_secret(exit: &Exit) {
    for printed in [&exit.stdout, &exit.stderr] {
        assert!(!printed.contains("s3cret"), "{printed}");
    }
}

fn head(report: &Value) -> String {
    report["head"].as_str().unwrap().to_owned()
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_and_sqlite_give_the_same_results_and_table() {
    let (home, lite, id) = (TestHome::new(), TestHome::new(), named("same"));
    let seeded = ["run", "--port", "0", "--json", "--seed", "7", "--players", "6"];
    let played = league(&home, &id, &seeded).success();
    without_secret(&played);
    let expected = lite.league(&[&seeded[..], &["--league-id", &id]].concat()).success().json();
    assert_eq!(played.json(), expected);
    assert!(!home.join(&format!("data/leagues/{id}/league.db")).exists(), "the log is in the store only");
    for command in ["standings", "schedule", "matches", "agents", "status", "verify"] {
        let shown = league(&home, &id, &[command, "--json"]).success();
        without_secret(&shown);
        if command == "standings" {
            assert_eq!(shown.json(), expected);
        }
    }
    let results = |home: &TestHome, played: &Value| -> Vec<Value> {
        let ids = played.as_array().unwrap().iter().map(|game| game["match_id"].as_str().unwrap());
        ids.map(|game| read_json(&home.join(&format!("data/matches/{id}/{game}.json")))["result"].clone()).collect()
    };
    let played = lite.league(&["matches", "--json", "--league-id", &id]).success().json();
    assert_eq!(league(&home, &id, &["matches", "--json"]).success().json(), played);
    assert_eq!(results(&home, &played), results(&lite, &played), "moves, numbers and winners");
    let exported = home.join("tables.sqlite");
    without_secret(&league(&home, &id, &["export", "--sqlite", exported.to_str().unwrap()]).success());
    assert!(exported.exists());
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_copies_have_equal_heads() {
    let (home, back, id) = (TestHome::new(), TestHome::new(), named("copied"));
    home.run(&["--league-id", &id, "--seed", "3"]);
    let verify = ["verify", "--json", "--league-id", &id];
    let original = head(&home.league(&verify).success().json());
    let url = store();
    let copy = |from: &str, to: &str| Process::start(&["copy", from, to, "--league-id", &id]).wait();
    for (from, to) in [(home.path(), &*url), (home.path(), &url), (&url, back.path())] {
        let copied = copy(from, to).success();
        without_secret(&copied);
        assert!(copied.stderr.contains(&original), "{}", copied.stderr);
    }
    back.league(&[&verify[..], &["--repair"]].concat());
    assert_eq!(head(&back.league(&verify).json()), original);
    let other = TestHome::new();
    other.run(&["--league-id", &id, "--seed", "4"]);
    let refused = copy(other.path(), &url);
    without_secret(&refused);
    assert!(refused.code == Some(1) && refused.stderr.contains("another log of this league"), "{}", refused.stderr);
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_takes_one_manager_at_a_time_and_continues_after_a_kill() {
    let (home, other, id) = (TestHome::new(), TestHome::new(), named("led"));
    let manager = ["manager", "--port", "0", "--registration-window", "3600"];
    let start = |home: &TestHome| {
        let all = [&manager[..], &["--home", home.path(), "--league-id", &id]].concat();
        Process::start_in(home.path(), &[("LEAGUE_STORE", &store())], &all)
    };
    let mut first = start(&home);
    first.wait_for_line("http://");
    let refused = start(&other).wait();
    without_secret(&refused);
    assert!(refused.code == Some(1) && refused.stderr.contains("another manager leads"), "{}", refused.stderr);
    first.kill();
    let mut second = start(&other);
    second.wait_for_line("Going on with");
}
