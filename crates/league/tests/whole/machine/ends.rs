//! Agents are told to exit in the middle of a round: they exit within five seconds, and nothing is lost.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Process, TestHome, Venue, http, ports};

const SOON: Duration = Duration::from_secs(5);

/// A league in its first match; each player takes a second per choice.
struct UnderWay {
    venue: Venue,
    manager: Process,
    referee: Process,
    players: Vec<Process>,
}

impl UnderWay {
    fn start(strategy: &str) -> Self {
        let venue = Venue::patient();
        let manager = venue.manager(2, 1);
        let mut referee = venue.referee("REF01");
        referee.says("is ready");
        let mut players: Vec<_> = ["P01", "P02"].map(|id| venue.player(id, strategy)).into();
        for player in &mut players {
            player.says("plays");
        }
        let endpoint = venue.home.tells("agents")[0]["endpoint"].as_str().unwrap().to_owned();
        let chooses = |state: &Value| state["result"]["state"] == "COLLECTING_CHOICES";
        http::until(&endpoint, "get_match_state", &json!({"match_id": "R1M1"}), chooses);
        Self { venue, manager, referee, players }
    }

    fn ends_well(self) {
        self.manager.ended().well();
        self.venue.home.verify(1);
        assert_eq!(self.venue.home.forfeits(), 0);
    }
}

#[test]
fn a_manager_that_is_told_to_end_goes_on_later() {
    let mut league = UnderWay::start("slow:20");
    let told = league.manager.terminate_and_restart(SOON).well().talk;
    assert!(told.contains("0 of 1 matches played; all of that is kept. Start it again"), "{told}");
    league.ends_well();
}

#[test]
fn a_referee_that_is_told_to_end_brings_its_matches_to_an_end_first() {
    let mut league = UnderWay::start("slow:20");
    let told = league.referee.terminate_and_restart(SOON).well().talk;
    assert!(told.contains("Running matches: 1; they have 3s to end.") && told.contains("no match was left"), "{told}");
    league.ends_well();
}

#[test]
fn what_a_referee_could_not_end_is_played_again() {
    let mut league = UnderWay::start("slow:85");
    let told = league.referee.terminate_and_restart(SOON).well().talk;
    assert!(told.contains("matches left, to be played again: 1."), "{told}");
    league.ends_well();
}

#[test]
fn a_player_that_is_told_to_end_comes_back_into_its_match() {
    let mut league = UnderWay::start("slow:20");
    let told = league.players[1].terminate_and_restart(SOON).well().talk;
    assert!(told.contains("Start it again with the same home and it comes back"), "{told}");
    league.ends_well();
}

#[test]
fn a_second_signal_ends_the_process_at_once() {
    let mut league = UnderWay::start("slow:85");
    league.referee.terminate();
    league.referee.says("Press Ctrl-C again to stop immediately");
    league.referee.terminate();
    let ended = league.referee.ended_within(Duration::from_secs(2));
    assert_eq!(ended.code, Some(130), "{}", ended.talk);
    assert!(ended.talk.contains("Stopped immediately"), "{}", ended.talk);
}

#[test]
fn a_whole_league_that_is_told_to_end_goes_on_later() {
    let home = TestHome::new();
    // The same port both times: an agent at another port counts as a different agent.
    let port = ports::free().to_string();
    let arguments = ["run", "--port", &port, "--players", "4", "--strategies", "slow:5", "--home", home.path()];
    let mut league = Process::start(&arguments);
    let line = league.says("manager at http");
    let address = line.rsplit(' ').next().unwrap().to_owned();
    let some = |answer: &Value| answer["result"]["standings"].to_string().contains("\"played\":1");
    http::until(&address, "get_standings", &json!({}), some);
    let told = league.terminate_and_restart(SOON).well().talk;
    assert!(told.contains("of 6 matches played; all of that is kept. Start it again"), "{told}");
    let told = league.ended().well().talk;
    assert!(told.contains("Going on with"), "{told}");
    home.verify(6);
}
