//! Two managers share a store, and faults hit the one that leads: it is killed, or cannot reach the store. Every request to the
//! store may fail.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use league_simulation::run::{Outcome, Wanted, play};
use league_simulation::scenario::Scenario;
use league_simulation::shared_store::Fence;

/// `cargo xtask ci` sets more faults by this variable.
const FAULTS: &str = "LEAGUE_SIMULATED_TAKEOVERS";

fn takeover(seed: u64) -> Outcome {
    let outcome = play(Scenario::with_standby(seed).unwrap(), Wanted::default()).unwrap();
    assert!(outcome.violation.is_none(), "seed {seed}: {:?}", outcome.violation);
    outcome
}

#[test]
fn takeovers_lose_no_result_double_none_and_charge_no_player() {
    let wanted: u64 = std::env::var(FAULTS).map_or(100, |faults| faults.parse().unwrap());
    let [leagues, faults, resumed, results] = [const { AtomicU64::new(0) }; 4];
    let work = || {
        while faults.load(Ordering::Relaxed) < wanted {
            let seed = leagues.fetch_add(1, Ordering::Relaxed);
            let tally = takeover(seed).tally;
            assert_eq!(tally.charged, 0, "seed {seed}: a player was charged");
            for (sum, count) in [(&faults, tally.leader_faults), (&resumed, tally.resumed), (&results, tally.results)] {
                sum.fetch_add(count, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let [leagues, faults, resumed, results] = [leagues, faults, resumed, results].map(AtomicU64::into_inner);
    println!("{faults} faults in {leagues} leagues: {resumed} managers led, {results} results, none lost or doubled");
    assert!(resumed > leagues + faults / 3, "leagues are taken over: {resumed} of {leagues} leagues, {faults} faults");
}

#[test]
fn a_store_without_the_fence_is_noticed() {
    let wanted = Wanted { fence: Fence::Missing, ..Wanted::default() };
    let late = |seed: u64| {
        let violation = play(Scenario::with_standby(seed).unwrap(), wanted).unwrap().violation?;
        assert!(violation.what.contains(" had begun"), "seed {seed}: {violation:?}");
        Some(seed)
    };
    let noticed: Vec<u64> = (0..40).filter_map(late).collect();
    assert!(!noticed.is_empty(), "no manager wrote after another one had taken over");
}

#[test]
fn a_seed_of_a_takeover_reproduces_its_run_exactly() {
    for seed in 0..4 {
        let [one, other] = [(); 2].map(|()| takeover(seed));
        assert_eq!((one.hash, one.count, one.ended), (other.hash, other.count, other.ended), "seed {seed}");
    }
}
