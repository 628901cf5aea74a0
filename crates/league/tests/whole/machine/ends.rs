//! Agents are told to exit in the middle of a round: they exit within five seconds, and nothing is lost.

use std::time::Duration;

use crate::support::venue::{RunningMatch, start_slow_run};
use crate::support::{Process, TestHome, Venue, assert_contains};

const SOON: Duration = Duration::from_secs(5);

/// Restarts a process in the middle of the match: it prints these parts, and the league ends without a forfeit.
fn restart_one(strategy: &str, choose: fn(&mut RunningMatch) -> &mut Process, parts: &[&str]) {
    let mut league = RunningMatch::start(Venue::patient(), strategy);
    assert_contains(&choose(&mut league).signal_and_restart("TERM", SOON).success().stderr, parts);
    league.manager.wait().success();
    league.venue.home.verify(1);
    assert_eq!(league.venue.home.forfeits(), 0);
}

#[test]
fn a_terminated_manager_continues_its_league_later() {
    let parts = ["0 of 1 matches played; all of that is kept. Start it again"];
    restart_one("slow:20", |league| &mut league.manager, &parts);
}

#[test]
fn a_terminated_referee_ends_its_matches_first_and_unfinished_ones_are_played_again() {
    let parts = ["Running matches: 1; they have 3s to end.", "no match was left"];
    restart_one("slow:20", |league| &mut league.referee, &parts);
    restart_one("slow:85", |league| &mut league.referee, &["matches left, to be played again: 1."]);
}

#[test]
fn a_terminated_player_comes_back_into_its_match() {
    let parts = ["Start it again with the same home and it comes back"];
    restart_one("slow:20", |league| &mut league.players[1], &parts);
}

#[test]
fn a_second_signal_ends_the_process_at_once() {
    let mut league = RunningMatch::start(Venue::patient(), "slow:85");
    league.referee.signal("TERM");
    league.referee.wait_for_line("Press Ctrl-C again to stop immediately");
    league.referee.signal("TERM");
    let exit = league.referee.wait_within(Duration::from_secs(2));
    assert_eq!(exit.code, Some(130), "{}", exit.stderr);
    assert_contains(&exit.stderr, &["Stopped immediately"]);
}

#[test]
fn a_terminated_run_continues_later() {
    let home = TestHome::new();
    let mut run = start_slow_run(Process::start, home.path());
    let stopped = run.signal_and_restart("TERM", SOON).success().stderr;
    assert_contains(&stopped, &["of 6 matches played; all of that is kept. Start it again"]);
    assert_contains(&run.wait().success().stderr, &["Going on with"]);
    home.verify(6);
}
