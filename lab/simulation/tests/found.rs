//! Seeds that failed once: what they found is mended, and stays so.

use league_simulation::invariants::Violation;
use league_simulation::run::{Wanted, run};
use league_simulation::sim_time::SimTime;

fn found(seed: u64) -> Option<Violation> {
    run(seed, Wanted::default()).map_or_else(
        |error| Some(Violation { at: SimTime::BEGIN, what: error.to_string() }),
        |outcome| outcome.violation,
    )
}

/// The network doubled its registration; the second one made another token count, of which the only referee never heard. It took
/// the manager for a stranger, and refused every match for ever.
#[test]
fn a_league_whose_referee_was_registered_twice_goes_on() {
    for seed in [34, 115] {
        assert_eq!(found(seed), None, "seed {seed}");
    }
}

/// Its match had been assigned and not begun. It had lost its token on the way, and could not get another any more.
#[test]
fn a_player_withdrawn_before_its_match_begins_is_not_invited() {
    for seed in [1842, 3293] {
        assert_eq!(found(seed), None, "seed {seed}");
    }
}
