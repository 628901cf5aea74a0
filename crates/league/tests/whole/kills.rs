//! Agents that are killed at any moment and started again: the league always finishes, nothing is lost, nothing counts twice.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Venue, http};

const PLAYERS: [&str; 5] = ["P01", "P02", "P03", "P04", "P05"];
const REFEREES: [&str; 2] = ["REF01", "REF02"];
/// Who can be killed: the manager, then the referees, then the players.
const MANAGER: Range<u64> = 0..1;
const ANY_REFEREE: Range<u64> = 1..3;
const ANY_PLAYER: Range<u64> = 3..8;
const ANYBODY: Range<u64> = 0..8;
/// How many are killed in each test, in as many leagues as that takes.
const KILLS: usize = 6;

/// Numbers that depend on nothing but a seed.
struct Dice(u64);

impl Dice {
    /// A number of `range`.
    fn throw(&mut self, range: Range<u64>) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        range.start + (mixed ^ (mixed >> 31)) % (range.end - range.start)
    }
}

/// Plays leagues until enough of `victims` were killed.
fn survives(seed: u64, victims: &Range<u64>) {
    println!("the seed is {seed}");
    let mut dice = Dice(seed);
    let mut killed = 0;
    while killed < KILLS {
        killed += play(&mut dice, victims, KILLS - killed);
    }
}

/// Plays a league in which `most` of `victims` are killed, or as many as there was time for: that many are handed back.
fn play(dice: &mut Dice, victims: &Range<u64>, most: usize) -> usize {
    let venue = Venue::new();
    let mut manager = venue.manager(PLAYERS.len(), REFEREES.len());
    // Slow players keep the league going long enough to be hit.
    let mut agents: Vec<_> = REFEREES.map(|id| venue.referee(id)).into();
    agents.extend(PLAYERS.map(|id| venue.player(id, "slow")));
    let mut hit = Vec::new();
    while hit.len() < most {
        // The moment is the point of the test; nothing is waited for here.
        let pause = dice.throw(0..500);
        sleep(Duration::from_millis(pause));
        if manager.is_over() {
            break;
        }
        let victim = usize::try_from(dice.throw(victims.clone())).unwrap();
        println!("{pause} ms later {victim} is killed");
        hit.push(victim);
        match victim.checked_sub(1) {
            None => manager.kill_and_restart(),
            Some(agent) => agents[agent].kill_and_restart(),
        }
    }
    manager.ended().well();
    let matches = PLAYERS.len() * (PLAYERS.len() - 1) / 2;
    venue.home.verify(matches);
    let played = venue.home.tells("matches");
    let different: BTreeSet<_> = played.as_array().unwrap().iter().map(|game| game["match_id"].to_string()).collect();
    assert_eq!(different.len(), matches, "{played}");
    let rows = venue.home.tells("standings");
    assert!(rows.as_array().unwrap().iter().all(|row| row["played"] == PLAYERS.len() - 1), "{rows}");
    // Who was killed may have come back too late to hear of the end; everybody else has heard of it.
    for (agent, number) in agents.into_iter().zip(1..) {
        if !hit.contains(&number) {
            agent.ended().well();
        }
    }
    hit.len()
}

#[test]
fn a_player_that_is_killed_in_a_match_comes_back_into_it() {
    let venue = Venue::patient();
    let manager = venue.manager(2, 1);
    let mut referee = venue.referee("REF01");
    referee.says("is ready");
    let _other = venue.player("P01", "random");
    let mut killed = venue.player("P02", "slow:20");
    killed.says("P02 plays");
    let endpoint = venue.home.tells("agents")[0]["endpoint"].as_str().unwrap().to_owned();
    let chooses = |state: &Value| state["result"]["state"] == "COLLECTING_CHOICES";
    http::until(&endpoint, "get_match_state", &json!({"match_id": "R1M1"}), chooses);
    killed.kill_and_restart();
    manager.ended().well();
    venue.home.verify(1);
    let file = venue.home.match_file("R1M1");
    assert!(file["result"]["details"]["drawn_number"].is_number(), "nobody forfeits: {file}");
    assert!(file["transcript"].to_string().contains("E009"), "it was away: {file}");
}

#[test]
fn managers_that_are_killed_go_on() {
    survives(1, &MANAGER);
}

#[test]
fn referees_that_are_killed_come_back() {
    survives(2, &ANY_REFEREE);
}

#[test]
fn players_that_are_killed_come_back() {
    survives(3, &ANY_PLAYER);
}

#[test]
fn anybody_may_be_killed() {
    survives(4, &ANYBODY);
}

#[test]
fn nobody_knows_who_is_killed_when() {
    survives(RandomState::new().hash_one("kills"), &ANYBODY);
}
