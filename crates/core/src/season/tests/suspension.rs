//! Five technical losses in a row suspend a player; one played match ends the suspension.

use league_protocol::side::Side;

use super::*;

/// Plays a whole league and returns the rounds after which `watched` is suspended. `outcome` decides each match from round and
/// players.
fn suspended_after(
    config: LeagueConfig,
    watched: &PlayerId,
    outcome: impl Fn(u32, Pair<&PlayerId>) -> Outcome,
) -> Vec<u32> {
    let mut league = League::running_with(config, 10, &[5]);
    let mut suspended = Vec::new();
    for round in 1..=9 {
        let season = league.season.clone();
        league.play_round(|id| outcome(round, season.contestants(id).unwrap().map(|player| &player.id)));
        if league.season.is_suspended(league.season.player(watched).unwrap()) {
            suspended.push(round);
        }
        assert_eq!(league.replayed(), league.season);
        if round < 9 {
            league.start_round();
        }
    }
    suspended
}

/// Only `player` forfeits, in the rounds that `when` selects.
fn forfeits(player: PlayerId, when: impl Fn(u32) -> bool) -> impl Fn(u32, Pair<&PlayerId>) -> Outcome {
    move |round, ids| match Side::BOTH.into_iter().find(|side| *ids[*side] == player && when(round)) {
        Some(side) => Outcome::Forfeit(side),
        None => Outcome::Draw,
    }
}

#[test]
fn the_fifth_technical_loss_running_suspends() {
    assert_eq!(suspended_after(config(), &p(3), forfeits(p(3), |_| true)), [5, 6, 7, 8, 9]);
    assert_eq!(suspended_after(config(), &p(4), forfeits(p(3), |_| true)), [0_u32; 0]);
}

#[test]
fn one_match_that_is_played_lifts_the_suspension() {
    assert_eq!(suspended_after(config(), &p(3), forfeits(p(3), |round| round <= 6)), [5, 6]);
    assert_eq!(suspended_after(config(), &p(3), forfeits(p(3), |round| round != 5)), [0_u32; 0]);
}

#[test]
fn a_win_by_forfeit_lifts_the_suspension_and_a_double_forfeit_counts_like_any_other() {
    let with = |rule: fn(u32, Side) -> Outcome| {
        move |round, ids: Pair<&PlayerId>| match Side::BOTH.into_iter().find(|side| *ids[*side] == p(3)) {
            Some(side) => rule(round, side),
            None => Outcome::Draw,
        }
    };
    let wins_the_sixth = with(|round, side| Outcome::Forfeit(if round == 6 { side.other() } else { side }));
    assert_eq!(suspended_after(config(), &p(3), wins_the_sixth), [5]);
    let doubles = with(|round, side| match round.is_multiple_of(2) {
        true => Outcome::DoubleForfeit,
        false => Outcome::Forfeit(side),
    });
    assert_eq!(suspended_after(config(), &p(3), doubles), [5, 6, 7, 8, 9]);
}

#[test]
fn the_limit_is_configuration_and_none_means_never() {
    let with = |suspend_after| LeagueConfig { suspend_after, ..config() };
    assert_eq!(suspended_after(with(1), &p(3), forfeits(p(3), |round| round == 4)), [4]);
    assert_eq!(suspended_after(with(0), &p(3), forfeits(p(3), |_| true)), [0_u32; 0]);
}
