//! Processes that are killed, and processes that exit after Ctrl-C: the league continues where it was.

use std::time::Duration;

use serde_json::{Value, json};

use super::program::{WindowsHome, WindowsVenue, league, press_ctrl_c, start};
use crate::support::{Process, http, ports};

/// An orderly exit takes 5 s; Wine and a busy machine get more.
const SOON: Duration = Duration::from_secs(20);

/// Two players in their first match, while they choose.
struct UnderWay {
    venue: WindowsVenue,
    manager: Process,
    referee: Process,
    players: [Process; 2],
}

impl UnderWay {
    fn start(strategy: &str) -> Self {
        let venue = WindowsVenue::new();
        let mut manager = venue.manager();
        manager.address();
        let (mut referee, mut players) = (venue.referee(), ["P01", "P02"].map(|id| venue.player(id, strategy)));
        referee.says("is ready");
        for player in &mut players {
            player.says("plays");
        }
        let agents = league(&["agents", "--home", &venue.home.path, "--json"]).well().json();
        let endpoint = agents[0]["endpoint"].as_str().unwrap();
        let chooses = |state: &Value| state["result"]["state"] == "COLLECTING_CHOICES";
        http::until(endpoint, "get_match_state", &json!({"match_id": "R1M1"}), chooses);
        Self { venue, manager, referee, players }
    }
}

#[test]
#[ignore = "needs cargo xtask ci windows, which builds the program and sets up Wine"]
fn a_second_manager_of_a_home_is_told_which_process_has_it() {
    let venue = WindowsVenue::new();
    let mut manager = venue.manager();
    manager.address();
    let refused = venue.manager_at("0").ended().badly();
    assert!(refused.contains("is held by process") && refused.contains(&venue.address), "{refused}");
}

#[test]
#[ignore = "needs cargo xtask ci windows, which builds the program and sets up Wine"]
fn a_killed_manager_comes_back_and_the_league_goes_on() {
    let UnderWay { venue, mut manager, referee, players } = UnderWay::start("slow:40");
    manager.kill_and_restart();
    let ended = manager.ended().well();
    assert!(ended.talk.contains("Going on with"), "{}", ended.talk);
    let rows = ended.json();
    assert!(rows.as_array().unwrap().iter().all(|row| row["played"] == 1), "{rows}");
    let report = league(&["verify", "--home", &venue.home.path, "--json"]).well().json();
    assert_eq!((&report["matches"], &report["damaged"]), (&1.into(), &json!([])), "{report}");
    referee.ended().well();
    for player in players {
        player.ended().well();
    }
}

#[test]
#[ignore = "needs cargo xtask ci windows, which builds the program and sets up Wine"]
fn a_league_that_is_ended_by_ctrl_c_goes_on_later() {
    let (home, port) = (WindowsHome::new(), ports::free().to_string());
    let arguments = ["run", "--port", &port, "--players", "4", "--strategies", "slow:5", "--home", &home.path];
    let mut run = start(&arguments);
    let address = run.says("manager at http").rsplit(' ').next().unwrap().to_owned();
    let some = |answer: &Value| answer["result"]["standings"].to_string().contains("\"played\":1");
    http::until(&address, "get_standings", &json!({}), some);
    press_ctrl_c(&run);
    let told = run.ended_within(SOON).well().talk;
    assert!(told.contains("of 6 matches played; all of that is kept. Start it again"), "{told}");
    let told = start(&arguments).ended().well().talk;
    assert!(told.contains("Going on with"), "{told}");
    let report = league(&["verify", "--home", &home.path, "--json"]).well().json();
    assert_eq!((&report["matches"], &report["damaged"]), (&6.into(), &json!([])), "{report}");
}

#[test]
#[ignore = "needs cargo xtask ci windows, which builds the program and sets up Wine"]
fn a_second_ctrl_c_ends_a_referee_at_once() {
    let UnderWay { mut referee, manager: _manager, players: _players, .. } = UnderWay::start("slow:85");
    press_ctrl_c(&referee);
    referee.says("Press Ctrl-C again to stop immediately");
    press_ctrl_c(&referee);
    let ended = referee.ended_within(SOON);
    assert_eq!(ended.code, Some(130), "{}", ended.talk);
}
