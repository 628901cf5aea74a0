//! Leagues with faults, and the simulation itself: a seed repeats exactly, faults take effect, and the checker notices
//! violations.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use league_core::season::event::Fact;
use league_simulation::disk::Honesty;
use league_simulation::run::{Wanted, play, run};
use league_simulation::scenario::{Pulling, Scenario};

/// `cargo xtask ci` sets more runs by this variable; `cargo xtask soak` has 10,000.
const RUNS: &str = "LEAGUE_SIMULATIONS";

fn holds(seed: u64) {
    let violation = run(seed, Wanted::default()).unwrap().violation;
    assert!(violation.is_none(), "{violation:?}; see the run: cargo xtask simulate --seed {seed} --runs 1");
}

fn in_parallel(check: impl Fn(u64) + Sync) {
    let runs = std::env::var(RUNS).map_or(200, |runs| runs.parse().unwrap());
    let next = AtomicU64::new(0);
    let work = || {
        for seed in std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|seed| *seed < runs) {
            check(seed);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
}

#[test]
fn nothing_is_lost_doubled_or_stuck() {
    in_parallel(holds);
}

#[test]
fn referees_that_pull_lose_and_double_nothing() {
    in_parallel(|seed| {
        let pulling = if seed.is_multiple_of(3) { Pulling::Some } else { Pulling::All };
        let scenario = Scenario { pulling, ..Scenario::of(seed).unwrap() };
        let violation = play(scenario, Wanted::default()).unwrap().violation;
        assert!(violation.is_none(), "seed {seed}, {pulling:?}: {violation:?}");
    });
}

/// The network duplicated a registration. The second one replaced the token of the only referee, which never learned of
/// it and refused every match.
#[test]
fn a_league_whose_referee_was_registered_twice_goes_on() {
    [34, 115].into_iter().for_each(holds);
}

/// The player had lost its token before its assigned match began, and could not get another.
#[test]
fn a_player_withdrawn_before_its_match_begins_is_not_invited() {
    [1842, 3293].into_iter().for_each(holds);
}

/// The manager asked the unreachable player for longer than the referee waited for the answer to its report.
#[test]
fn a_player_whose_machine_is_gone_does_not_keep_its_match_open() {
    [50, 111].into_iter().for_each(holds);
}

/// Seeds that are multiples of 20 have no faults.
#[test]
fn the_matches_of_a_paced_league_begin_one_after_the_other() {
    let gaps = |pace: Duration| {
        let scenario = Scenario {
            strategies: vec!["random"; 6],
            referees: 2,
            capacity: 4,
            pace,
            withdrawal: None,
            ..Scenario::of(20).unwrap()
        };
        let outcome = play(scenario, Wanted::default()).unwrap();
        assert!(outcome.violation.is_none(), "{:?}", outcome.violation);
        let assigned = outcome.events.iter().filter(|event| matches!(event.fact, Fact::MatchAssigned { .. }));
        let at: Vec<i64> = assigned.map(|event| event.at.unix()).collect();
        assert_eq!(at.len(), 15, "each match once");
        at.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<i64>>()
    };
    assert!(gaps(Duration::ZERO).contains(&0), "several matches begin at once");
    let paced = gaps(Duration::from_secs(3));
    assert!(paced.iter().all(|gap| *gap >= 3), "{paced:?}");
}

#[test]
fn a_seed_reproduces_a_run_exactly() {
    for seed in 0..24 {
        let [one, other] = [(); 2].map(|()| run(seed, Wanted { lines: true, ..Wanted::default() }).unwrap());
        let difference = one.lines.iter().zip(&other.lines).position(|(one, other)| one != other);
        if let Some(place) = difference {
            panic!("seed {seed} differs from line {place} on:\n{}\n{}", one.lines[place], other.lines[place]);
        }
        assert_eq!((one.hash, one.count, one.ended), (other.hash, other.count, other.ended), "seed {seed}");
    }
}

#[test]
fn runs_are_rough_enough_to_show_something() {
    let outcomes: Vec<_> = (0..60).map(|seed| run(seed, Wanted::default()).unwrap()).collect();
    let sum = |count: fn(&league_simulation::invariants::Tally) -> u64| {
        outcomes.iter().map(|outcome| count(&outcome.tally)).sum::<u64>()
    };
    assert!(sum(|tally| tally.results) > 200, "matches are played");
    assert!(sum(|tally| tally.charged) > 20, "players are charged");
    assert!(sum(|tally| tally.in_vain) > 10, "attempts come to nothing");
    assert!(sum(|tally| tally.awarded) > 3, "players are withdrawn");
    assert!(sum(|tally| tally.resumed) > 60, "managers are started again");
}

#[test]
fn a_disk_that_answers_before_it_has_synced_is_found_out() {
    let wanted = Wanted { honesty: Honesty::Lying, ..Wanted::default() };
    let found: Vec<_> = (1..30).filter_map(|seed| run(seed, wanted).unwrap().violation).collect();
    assert!(found.len() > 20, "only {} of 29 runs noticed", found.len());
    let lost = |what: &str| what.contains("is not in the log") || what.contains("is not that of its log");
    assert!(found.iter().all(|violation| lost(&violation.what)), "{found:?}");
}
