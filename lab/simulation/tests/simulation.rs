//! Leagues with faults, and the simulation itself: a seed repeats exactly, faults take effect, and the checker notices
//! violations.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use league_simulation::disk::Honesty;
use league_simulation::run::{Wanted, run};

/// `cargo xtask ci` sets more runs by this variable; `cargo xtask soak` has 10,000.
const RUNS: &str = "LEAGUE_SIMULATIONS";

fn holds(seed: u64) {
    let violation = run(seed, Wanted::default()).unwrap().violation;
    assert!(violation.is_none(), "{violation:?}; see the run: cargo xtask simulate --seed {seed} --runs 1");
}

#[test]
fn nothing_is_lost_doubled_or_stuck() {
    let runs = std::env::var(RUNS).map_or(200, |runs| runs.parse().unwrap());
    let next = AtomicU64::new(0);
    let work = || {
        for seed in std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|seed| *seed < runs) {
            holds(seed);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
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
