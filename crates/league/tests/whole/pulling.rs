//! Referees that pull, as processes: killed, stopped, and beside referees that are called.

use std::time::{Duration, Instant};

use crate::support::{Process, Venue, http, poll, wait_for_all};

fn pulling(venue: &Venue, id: &str) -> Process {
    venue.agent(&["referee", "--pull", "--concurrency", "4", "--referee-id", id])
}

/// Waits until one of the referees plays a match, and returns its place.
fn playing(venue: &Venue, referees: &[&str]) -> usize {
    let plays = |id: &&str| {
        let journal = venue.home.join(&format!("logs/agents/{id}.log.jsonl"));
        std::fs::read_to_string(journal).is_ok_and(|text| text.contains("MATCH_STARTED"))
    };
    poll("a match that runs", || referees.iter().position(&plays))
}

#[test]
fn a_referee_that_pulls_is_killed_and_its_matches_are_played_again() {
    let venue = Venue::patient();
    let mut manager = venue.manager(2, 1);
    manager.address();
    let mut killed = pulling(&venue, "REF01");
    killed.wait_for_line("REF01 is ready");
    let players = ["P01", "P02"].map(|id| venue.player(id, "slow:60"));
    playing(&venue, &["REF01"]);
    killed.kill();
    let began = Instant::now();
    let mut other = pulling(&venue, "REF02");
    other.wait_for_line("REF02 is ready");
    manager.wait().success();
    // Six seconds of silence, two until the manager looks, a match of three seconds.
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    wait_for_all(players);
    other.wait().success();
    venue.home.verify(1);
    assert_eq!(venue.home.forfeits(), 0);
    assert_eq!(venue.home.match_file("R1M1")["referee_id"], "REF02");
}

#[test]
fn a_referee_that_is_stopped_gives_its_matches_back_at_once() {
    let venue = Venue::patient();
    let mut manager = venue.manager(2, 2);
    manager.address();
    let ids = ["REF01", "REF02"];
    let mut referees = Vec::from(ids.map(|id| pulling(&venue, id)));
    // Both think for three seconds, so that neither has moved when the referee is stopped.
    let players = ["P01", "P02"].map(|id| venue.player(id, "slow:60"));
    let place = playing(&venue, &ids);
    let (mut stopped, other) = (referees.remove(place), referees.remove(0));
    let began = Instant::now();
    stopped.signal("TERM");
    let exit = stopped.wait_within(Duration::from_secs(6)).success();
    assert!(exit.stderr.contains("to be played again: 1"), "{}", exit.stderr);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    manager.wait().success();
    wait_for_all(players);
    other.wait().success();
    venue.home.verify(1);
    assert_eq!(venue.home.forfeits(), 0);
    let file = venue.home.match_file("R1M1");
    assert_eq!((file["referee_id"].as_str(), file["attempt"].as_u64()), (Some(ids[1 - place]), Some(2)), "{file}");
}

#[test]
fn transcripts_of_a_referee_that_pulls_reach_the_manager() {
    let (venue, elsewhere) = (Venue::new(), crate::support::TestHome::new());
    let mut manager = venue.manager(4, 1);
    manager.address();
    let referee = venue.agent_in(elsewhere.path(), &["referee", "--pull"]);
    let players = ["P01", "P02", "P03", "P04"].map(|id| venue.player(id, "random"));
    manager.wait().success();
    referee.wait().success();
    wait_for_all(players);
    venue.home.verify(6);
    let own = elsewhere.join("data/matches/league_2025_even_odd");
    let files = std::fs::read_dir(own).map_or(0, Iterator::count);
    assert_eq!(files, 0, "a referee that pulls keeps no match files");
    for game in venue.home.list("matches") {
        let file = venue.home.match_file(game["match_id"].as_str().unwrap());
        assert!(file["transcript"].as_array().is_some_and(|entries| entries.len() >= 8), "{file}");
    }
}

#[test]
fn a_stepped_league_takes_no_referee_that_pulls() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &["--stepped"]);
    manager.address();
    pulling(&venue, "REF01").wait().fails_with(&["this league is stepped by its operator", "start it without --pull"]);
    let status = http::call(&venue.address, "get_standings", &serde_json::json!({}));
    assert_eq!(status["result"]["current_round"], 0, "{status}");
}
