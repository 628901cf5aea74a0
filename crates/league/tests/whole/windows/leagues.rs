//! Whole leagues, the pages and the checker.

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use super::program::{WindowsHome, league, on_windows, press_ctrl_c, start};
use crate::support::{Process, TestHome, Venue, http, ports};

#[test]
#[ignore = "needs cargo xtask ci windows, which builds the program and sets up Wine"]
fn a_league_is_played_shown_and_verified_on_both_systems() {
    let home = WindowsHome::new();
    let mut run = start(&["run", "--seed", "7", "--port", "0", "--home", &home.path, "--json", "--stay"]);
    let site = run.says("Serving until Ctrl-C").rsplit(' ').next().unwrap().to_owned();
    for (page, part) in
        [("", "random 1"), ("matches/R1M1", "R1M1"), ("api/v1/standings", "\"P01\""), ("metrics", "league_")]
    {
        let (status, answer) = http::page(&format!("{site}{page}"), None);
        assert_eq!(status, 200, "{page}: {answer}");
        assert!(answer.contains(part), "{page}: {answer}");
    }
    press_ctrl_c(&run);
    let ended = run.ended().well();
    // A warning would mean a call that Windows refuses.
    assert!(!ended.talk.to_lowercase().contains("warn") && !ended.talk.contains("could not"), "{}", ended.talk);
    let rows = ended.json();
    let points: Vec<(&str, i64)> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["player_id"].as_str().unwrap(), row["points"].as_i64().unwrap()))
        .collect();
    // A seed gives the same league on every system: this is the table of the README.
    assert_eq!(points, [("P01", 7), ("P03", 5), ("P04", 3), ("P02", 1)]);
    let there = league(&["verify", "--home", &home.path, "--json"]).well().json();
    let here = crate::support::league(&["verify", "--home", &home.here(), "--json"]).well().json();
    assert_eq!((&there["matches"], &there["draws_proved"]), (&6.into(), &6.into()), "{there}");
    assert_eq!(there["head"], here["head"]);
    assert_eq!(there["damaged"], here["damaged"]);
}

#[test]
#[ignore = "needs cargo xtask ci windows, which builds the program and sets up Wine"]
fn a_python_player_that_runs_outside_is_graded_without_fault() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/python-stdlib");
    let (port, nobody) = (ports::free(), format!("http://127.0.0.1:{}/mcp", ports::free()));
    let mut command = Command::new("python3");
    command.args(["player.py", "--name", "Guest", "--port", &port.to_string(), "--manager", &nobody]);
    let mut guest = Process::of(command.current_dir(directory));
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(!guest.is_over(), "{}", guest.ended().talk);
        std::thread::yield_now();
    }
    let told = league(&["check", &format!("http://127.0.0.1:{port}/mcp")]).well().out;
    for part in ["grade: 100 % of required (", "), 100 % of recommended ("] {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
#[ignore = "needs cargo xtask ci windows, which builds the program and sets up Wine"]
fn a_windows_player_plays_in_the_league_of_a_linux_manager() {
    let (venue, own) = (Venue::patient(), TestHome::new());
    let manager = venue.manager(3, 1);
    let _here = [venue.referee("REF01"), venue.player("P01", "markov"), venue.player("P02", "random")];
    let (port, home) = (ports::free().to_string(), on_windows(&own.join("")));
    let who = ["player", "--player-id", "P03", "--strategy", "frequency", "--name", "Window"];
    let guest = start(&[&who[..], &["--port", &port, "--manager", &venue.address, "--home", &home]].concat());
    let standings = manager.ended().well().json();
    assert!(standings.as_array().unwrap().iter().all(|row| row["played"] == 2), "{standings}");
    guest.ended().well();
    venue.home.verify(3);
    assert_eq!(venue.home.forfeits(), 0);
    assert_eq!(venue.home.tells("verify")["draws_proved"], 3);
    // The player has its own home with its history.
    let history = std::fs::read_to_string(own.join("data/players/P03/history.json")).unwrap();
    assert_eq!(history.matches("\"opponent_id\"").count(), 2, "{history}");
}
