//! The simulation itself: it repeats itself exactly, it really breaks things, and it notices what it should.

use league_simulation::disk::Honesty;
use league_simulation::run::{Wanted, run};

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
    let outcomes: Vec<_> = (0..40).map(|seed| run(seed, Wanted::default()).unwrap()).collect();
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
