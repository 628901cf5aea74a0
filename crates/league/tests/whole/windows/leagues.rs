//! Whole leagues, the pages and the checker.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::program::{home, home_argument, league, start};
use crate::support::{Process, TestHome, Venue, assert_contains, assert_played, http, ports};

#[test]
#[ignore = "needs cargo xtask ci windows, which builds the program and sets up Wine"]
fn a_league_is_played_shown_and_verified_on_both_systems() {
    let home = home();
    let path = home_argument(&home);
    let mut run = start(&["run", "--seed", "7", "--port", "0", "--home", &path, "--json", "--stay"]);
    let site = run.wait_for_line("Serving until Ctrl-C").rsplit(' ').next().unwrap().to_owned();
    for (page, part) in
        [("", "random 1"), ("matches/R1M1", "R1M1"), ("api/v1/standings", "\"P01\""), ("metrics", "league_")]
    {
        let (status, response) = http::page(&format!("{site}{page}"), None);
        assert_eq!(status, 200, "{page}: {response}");
        assert_contains(&response, &[part]);
    }
    run.signal("INT");
    let exit = run.wait().success();
    // A warning would mean a call that Windows refuses.
    assert!(!exit.stderr.to_lowercase().contains("warn") && !exit.stderr.contains("could not"), "{}", exit.stderr);
    let rows = exit.json();
    let rows = rows.as_array().unwrap().iter();
    let points: Vec<_> =
        rows.map(|row| (row["player_id"].as_str().unwrap(), row["points"].as_i64().unwrap())).collect();
    // A seed gives the same league on every system: this is the table of the README.
    assert_eq!(points, [("P03", 5), ("P01", 4), ("P02", 4), ("P04", 3)]);
    let there = league(&["verify", "--home", &path, "--json"]).success().json();
    let here = home.json("verify");
    assert_eq!((&there["matches"], &there["draws_proved"]), (&6.into(), &6.into()), "{there}");
    assert_eq!((&there["head"], &there["differences"]), (&here["head"], &here["differences"]));
}

#[test]
#[ignore = "needs cargo xtask ci windows, which builds the program and sets up Wine"]
fn a_python_player_that_runs_outside_is_graded_without_fault() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/python-stdlib");
    let port = ports::free();
    let mut command = Command::new("python3");
    command.args(["player.py", "--name", "Guest", "--port", &port.to_string(), "--manager", &ports::free_endpoint()]);
    command.current_dir(directory);
    let mut guest = Process::of(command);
    ports::wait_until_listening(port, &mut guest);
    let report = league(&["check", &ports::endpoint(port)]).success().stdout;
    assert_contains(&report, &["grade: 100 % of required (", "), 100 % of recommended ("]);
}

#[test]
#[ignore = "needs cargo xtask ci windows, which builds the program and sets up Wine"]
fn a_windows_player_plays_in_the_league_of_a_linux_manager() {
    let (venue, own) = (Venue::patient(), TestHome::new());
    let manager = venue.manager(3, 1);
    let _here = [venue.referee("REF01"), venue.player("P01", "markov"), venue.player("P02", "random")];
    let (port, home) = (ports::free().to_string(), home_argument(&own));
    let agent = ["player", "--player-id", "P03", "--strategy", "frequency", "--name", "Window"];
    let guest = start(&[&agent[..], &["--port", &port, "--manager", &venue.address, "--home", &home]].concat());
    assert_played(&manager.wait().success().json(), 2);
    guest.wait().success();
    venue.home.verify(3);
    assert_eq!(venue.home.forfeits(), 0);
    assert_eq!(venue.home.json("verify")["draws_proved"], 3);
    // The player has its own home with its history.
    let history = fs::read_to_string(own.join("data/players/P03/history.json")).unwrap();
    assert_eq!(history.matches("\"opponent_id\"").count(), 2, "{history}");
}
