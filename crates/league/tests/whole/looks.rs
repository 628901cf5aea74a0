//! `league standings`, `schedule`, … give the same from a running manager as from the home.

use crate::support::{Ended, Venue, league};

const COMMANDS: [&[&str]; 6] =
    [&["standings"], &["schedule"], &["matches"], &["match", "R1M1"], &["agents"], &["status"]];

fn both(venue: &Venue, command: &[&str], more: &[&str]) -> [Ended; 2] {
    let places = [["--home", venue.home.path()], ["--manager", venue.address.as_str()]];
    places.map(|place| league(&[command, &place[..], more].concat()).well())
}

#[test]
fn a_manager_tells_what_its_home_tells() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(3, 1, &[]);
    manager.address();
    let [home, asked] = both(&venue, &["status"], &[]);
    assert_eq!(home.out, asked.out, "before the first registration");
    let _agents = ["P01", "P02", "P03"].map(|id| venue.player(id, "random"));
    let _referee = venue.referee("REF01");
    manager.says("The league is over. Serving until Ctrl-C.");
    for command in COMMANDS {
        for more in [&[][..], &["--json"]] {
            let [home, asked] = both(&venue, command, more);
            // A manager's schedule names the winners; choices and numbers are only in the home.
            if more.is_empty() && matches!(command, ["schedule" | "matches"]) {
                for part in ["R1M1", "Player P01"] {
                    assert!(home.out.contains(part) && asked.out.contains(part), "{}{}", home.out, asked.out);
                }
                assert!(home.out.contains("even") || home.out.contains("odd"), "{}", home.out);
            } else {
                assert_eq!(home.out, asked.out, "{command:?} {more:?}");
            }
            assert!(home.out.lines().count() > 3, "{}", home.out);
        }
    }
    let named = ["status", "--manager", &venue.address, "--league-id"];
    league(&[&named[..], &[crate::support::home::LEAGUE]].concat()).well();
    let told = league(&[&named[..], &["another"]].concat()).badly();
    assert!(told.contains("there is no such league here"), "{told}");
    let told = league(&["match", "R9M9", "--manager", &venue.address]).badly();
    assert!(told.contains("R9M9"), "{told}");
}

#[test]
fn large_leagues_come_page_by_page_and_whole() {
    let venue = Venue::new();
    let players = ["--players", "32", "--stay", "--port", "0", "--home", venue.home.path()];
    let mut whole = crate::support::Process::start(&[&["run"], &players[..]].concat());
    let line = whole.says("manager at http");
    let address = line.rsplit(' ').next().unwrap();
    whole.says("Serving until Ctrl-C.");
    for command in ["standings", "schedule", "agents"] {
        let home = league(&[command, "--home", venue.home.path(), "--json"]).well();
        let asked = league(&[command, "--manager", address, "--json"]).well();
        assert_eq!(home.out, asked.out, "{command}");
    }
    let rounds = venue.home.tells("schedule");
    assert!(rounds.to_string().len() > 65_536, "more than a client reads at once");
    let complete = |round: &serde_json::Value| round["matches"].as_array().unwrap().len() == 16;
    assert!(rounds.as_array().unwrap().len() == 31 && rounds.as_array().unwrap().iter().all(complete));
}

#[test]
fn strangers_see_the_table_and_the_operator_sees_everything() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &["--operator-token", "secret-of-the-operator"]);
    manager.address();
    for (command, open) in [("status", true), ("standings", true), ("schedule", true), ("agents", false)] {
        let asked = ["--manager", venue.address.as_str()];
        let stranger = league(&[&[command], &asked[..]].concat());
        if open {
            stranger.well();
        } else {
            assert!(stranger.badly().contains("auth_token"));
        }
        league(&[&[command], &asked[..], &["--token", "secret-of-the-operator"]].concat()).well();
    }
}

#[test]
fn a_home_and_a_manager_are_not_asked_together() {
    let ended = league(&["standings", "--home", "SHARED", "--manager", "http://localhost:1/mcp"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.talk.contains("'--home <HOME>' cannot be used with '--manager <URL>'"), "{}", ended.talk);
}

#[test]
fn a_manager_that_is_not_there_is_said_so() {
    let told = league(&["standings", "--manager", "http://127.0.0.1:1/mcp"]).badly();
    assert!(
        told.contains("the manager at http://127.0.0.1:1/mcp does not answer") && told.contains("--manager"),
        "{told}"
    );
}
