//! Leagues of every format, over the simulated network with its faults: nothing is lost, doubled or stuck.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use league_simulation::run::{Wanted, play};
use league_simulation::scenario::Scenario;

/// `cargo xtask ci` sets more runs by this variable.
const RUNS: &str = "LEAGUE_SIMULATIONS";

fn survives(format: &str) {
    let runs = std::env::var(RUNS).map_or(60, |runs| runs.parse().unwrap());
    let (next, results, resumed) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        for seed in std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|seed| *seed < runs) {
            let mut scenario = Scenario::of(seed).unwrap();
            scenario.rules = scenario.rules.with_format(format.parse().unwrap());
            let outcome = play(scenario, Wanted::default()).unwrap();
            assert!(outcome.violation.is_none(), "{format}, seed {seed}: {:?}", outcome.violation);
            results.fetch_add(outcome.tally.results, Ordering::Relaxed);
            resumed.fetch_add(outcome.tally.resumed - 1, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    println!("{format}: {runs} runs, {results:?} results, {resumed:?} restarts of the manager");
    assert!(results.into_inner() > runs && resumed.into_inner() > runs / 4);
}

#[test]
fn a_double_round_robin_survives_crashes() {
    survives("round_robin:times=2");
}

#[test]
fn a_swiss_league_survives_crashes() {
    survives("swiss:rounds=3");
}

#[test]
fn a_knockout_survives_crashes() {
    survives("knockout");
}

#[test]
fn a_knockout_of_best_of_three_with_a_drawn_bracket_survives_crashes() {
    survives("knockout:best_of=3,seeding=draw");
}
