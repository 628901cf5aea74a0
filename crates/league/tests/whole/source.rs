//! `league standings`, `schedule`, … show the same from a running manager as from the home.

use crate::support::home::LEAGUE;
use crate::support::{Venue, assert_contains, league};

const COMMANDS: [&[&str]; 6] =
    [&["standings"], &["schedule"], &["matches"], &["match", "R1M1"], &["agents"], &["status"]];

/// The output of the command, from the home and from the manager.
fn both(venue: &Venue, command: &[&str], more: &[&str]) -> [String; 2] {
    let sources = [["--home", venue.home.path()], ["--manager", venue.address.as_str()]];
    sources.map(|source| league(&[command, &source[..], more].concat()).success().stdout)
}

#[test]
fn a_manager_and_its_home_show_the_same() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(3, 1, &[]);
    manager.address();
    let [home, asked] = both(&venue, &["status"], &[]);
    assert_eq!(home, asked, "before the first registration");
    let _agents = ["P01", "P02", "P03"].map(|id| venue.player(id, "random"));
    let _referee = venue.referee("REF01");
    manager.wait_for_end_of_league();
    for command in COMMANDS {
        for more in [&[][..], &["--json"]] {
            let [home, asked] = both(&venue, command, more);
            // A manager's schedule names the winners; choices and numbers are only in the home.
            if more.is_empty() && matches!(command, ["schedule" | "matches"]) {
                assert_contains(&home, &["R1M1", "Player P01"]);
                assert_contains(&asked, &["R1M1", "Player P01"]);
                assert!(home.contains("even") || home.contains("odd"), "{home}");
            } else {
                assert_eq!(home, asked, "{command:?} {more:?}");
            }
            assert!(home.lines().count() > 3, "{home}");
        }
    }
    let status = ["status", "--manager", &venue.address, "--league-id"];
    league(&[&status[..], &[LEAGUE]].concat()).success();
    league(&[&status[..], &["another"]].concat()).fails_with(&["there is no such league here"]);
    league(&["match", "R9M9", "--manager", &venue.address]).fails_with(&["R9M9"]);
}

#[test]
fn a_large_league_is_shown_whole_although_it_comes_in_pages() {
    let venue = Venue::new();
    let mut run = venue.home.start(&["run", "--players", "32", "--stay", "--port", "0"]);
    let line = run.wait_for_line("manager at http");
    let address = line.rsplit(' ').next().unwrap();
    run.wait_for_line("Serving until Ctrl-C.");
    for command in ["standings", "schedule", "agents"] {
        let asked = league(&[command, "--manager", address, "--json"]).success();
        assert_eq!(venue.home.json(command), asked.json(), "{command}");
    }
    let rounds = venue.home.json("schedule");
    assert!(rounds.to_string().len() > 65_536, "more than a client reads at once");
    let rounds = rounds.as_array().unwrap();
    assert!(rounds.len() == 31 && rounds.iter().all(|round| round["matches"].as_array().unwrap().len() == 16));
}

#[test]
fn clients_without_the_token_see_the_table_and_the_operator_sees_everything() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &["--operator-token", "secret-of-the-operator"]);
    manager.address();
    for command in ["status", "standings", "schedule", "agents"] {
        let asked = [command, "--manager", venue.address.as_str()];
        if command == "agents" {
            league(&asked).fails_with(&["auth_token"]);
        } else {
            league(&asked).success();
        }
        league(&[&asked[..], &["--token", "secret-of-the-operator"]].concat()).success();
    }
}
