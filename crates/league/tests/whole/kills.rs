//! Agents are killed and restarted: the league finishes, no result is lost, none counts twice.

use std::collections::BTreeSet;

use crate::support::{Venue, assert_played, http, wait_for_all};

const PLAYERS: [&str; 5] = ["P01", "P02", "P03", "P04", "P05"];
const REFEREES: [&str; 2] = ["REF01", "REF02"];
/// The next victim after each further result: the manager, or an agent by its index after both referees.
const VICTIMS: [Option<usize>; 8] = [None, Some(0), Some(2), None, Some(1), Some(5), Some(6), None];

#[test]
fn a_player_that_is_killed_in_a_match_comes_back_into_it() {
    let venue = Venue::patient();
    let manager = venue.manager(2, 1);
    let mut referee = venue.referee("REF01");
    referee.wait_for_line("is ready");
    let _other = venue.player("P01", "random");
    let mut killed = venue.player("P02", "slow:20");
    killed.wait_for_line("P02 plays");
    http::until_match(&venue.home.referee_endpoint(), "R1M1", "state", "COLLECTING_CHOICES");
    killed.kill_and_restart();
    manager.wait().success();
    // The referee writes the file of the match before it exits.
    referee.wait().success();
    venue.home.verify(1);
    let file = venue.home.match_file("R1M1");
    assert!(file["result"]["details"]["drawn_number"].is_number(), "no player forfeits: {file}");
    assert!(file["transcript"].to_string().contains("E009"), "it was away: {file}");
}

#[test]
fn agents_that_are_killed_come_back_and_nothing_counts_twice() {
    let venue = Venue::new();
    let mut manager = venue.manager(PLAYERS.len(), REFEREES.len());
    // Slow players keep the league going until all have been killed.
    let mut agents: Vec<_> = REFEREES.map(|id| venue.referee(id)).into();
    agents.extend(PLAYERS.map(|id| venue.player(id, "slow")));
    manager.address();
    for (results, victim) in VICTIMS.into_iter().enumerate() {
        // Reading the home takes long enough for a loop without a pause.
        while venue.home.list("matches").len() < results {}
        match victim {
            None => manager.kill_and_restart(),
            Some(agent) => agents[agent].kill_and_restart(),
        }
    }
    manager.wait().success();
    let matches = PLAYERS.len() * (PLAYERS.len() - 1) / 2;
    venue.home.verify(matches);
    let played = venue.home.list("matches");
    let different: BTreeSet<_> = played.iter().map(|game| game["match_id"].to_string()).collect();
    assert_eq!(different.len(), matches, "{played:?}");
    assert_played(&venue.home.json("standings"), PLAYERS.len() - 1);
    // A killed agent may come back too late for the end of the league; every other one exits by itself.
    let unharmed = agents.into_iter().enumerate().filter(|(number, _)| !VICTIMS.contains(&Some(*number)));
    wait_for_all(unharmed.map(|(_, agent)| agent));
}
