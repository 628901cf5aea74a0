//! Processes that are killed, and processes that exit after Ctrl-C: the league continues where it was.

use std::time::Duration;

use serde_json::json;

use super::program::{home, home_argument, league, start, venue};
use crate::support::venue::{RunningMatch, start_slow_run};
use crate::support::{assert_contains, assert_played, wait_for_all};

/// An orderly exit takes 5 s; Wine and a busy machine get more.
const SOON: Duration = Duration::from_secs(20);

fn verify(home: &str, matches: usize) {
    let report = league(&["verify", "--home", home, "--json"]).success().json();
    let findings = (&report["differences"], &report["stale"]);
    assert_eq!((&report["matches"], findings), (&json!(matches), (&json!([]), &json!([]))), "{report}");
}

#[test]
#[ignore = "needs cargo xtask ci windows, which builds the program and sets up Wine"]
fn a_second_manager_of_a_home_is_told_which_process_has_it() {
    let venue = venue();
    let mut manager = venue.manager(2, 1);
    manager.address();
    venue.manager(2, 1).wait().fails_with(&["is held by process", &venue.address]);
}

#[test]
#[ignore = "needs cargo xtask ci windows, which builds the program and sets up Wine"]
fn a_killed_manager_comes_back_and_the_league_goes_on() {
    let RunningMatch { venue, mut manager, referee, players } = RunningMatch::start(venue(), "slow:40");
    manager.kill_and_restart();
    let exit = manager.wait().success();
    assert_contains(&exit.stderr, &["Going on with"]);
    assert_played(&exit.json(), 1);
    verify(&home_argument(&venue.home), 1);
    wait_for_all(players.into_iter().chain([referee]));
}

#[test]
#[ignore = "needs cargo xtask ci windows, which builds the program and sets up Wine"]
fn a_league_that_is_ended_by_ctrl_c_goes_on_later() {
    let home = home();
    let mut run = start_slow_run(start, &home_argument(&home));
    let stopped = run.signal_and_restart("INT", SOON).success().stderr;
    assert_contains(&stopped, &["of 6 matches played; all of that is kept. Start it again"]);
    assert_contains(&run.wait().success().stderr, &["Going on with"]);
    verify(&home_argument(&home), 6);
}

#[test]
#[ignore = "needs cargo xtask ci windows, which builds the program and sets up Wine"]
fn a_second_ctrl_c_ends_a_referee_at_once() {
    let mut running = RunningMatch::start(venue(), "slow:85");
    running.referee.signal("INT");
    running.referee.wait_for_line("Press Ctrl-C again to stop immediately");
    running.referee.signal("INT");
    let exit = running.referee.wait_within(SOON);
    assert_eq!(exit.code, Some(130), "{}", exit.stderr);
}
