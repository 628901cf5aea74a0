//! Games other than Even/Odd, over the simulated network.

use std::num::NonZeroU32;

use league_protocol::message::start_match::MatchLimits;
use league_simulation::run::{Wanted, play};
use league_simulation::scenario::Scenario;

/// The limit of a match follows from the longest course of its game; otherwise nine slow moves would exceed it.
#[test]
fn slow_moves_within_their_limits_do_not_make_a_match_overdue() {
    let mut scenario = Scenario::of(20).unwrap();
    let limits = &mut scenario.rules.limits;
    *limits = MatchLimits { move_timeout_sec: 3.0, max_retries: 1, ..*limits };
    scenario.rules.game_type = "tic_tac_toe".parse().unwrap();
    scenario.strategies = vec!["slow:70"; 4];
    scenario.withdrawal = None;
    let outcome = play(scenario, Wanted::default()).unwrap();
    assert!(outcome.violation.is_none(), "{:?}", outcome.violation);
    assert_eq!((outcome.tally.results, outcome.tally.charged, outcome.tally.in_vain), (6, 0, 0));
}

#[test]
fn leagues_of_three_games_survive_the_faults_of_the_network() {
    for (game, games) in [("tic_tac_toe", 1), ("leduc_poker", 3), ("rock_paper_scissors", 1)] {
        for seed in 1..=4 {
            let mut scenario = Scenario::of(seed).unwrap();
            scenario.rules.game_type = game.parse().unwrap();
            scenario.rules.games_per_match = NonZeroU32::new(games).unwrap();
            scenario.strategies.iter_mut().for_each(|strategy| *strategy = "random");
            let outcome = play(scenario, Wanted::default()).unwrap();
            assert!(outcome.violation.is_none(), "{game}, seed {seed}: {:?}", outcome.violation);
        }
    }
}
