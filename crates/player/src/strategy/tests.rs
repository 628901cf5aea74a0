//! What strategies choose after a history, and what they earn in two hundred matches of P01 against P02.

use league_core::rules::seed::Seed;
use league_core::session::PlayedMatch;
use league_protocol::id::PlayerId;
use league_protocol::parity::Parity;

use super::registry::strategy;
use crate::chance::Chance;
use crate::memory::Memory;
use crate::testing::{bet, memory, played, question, remembering};

const MATCHES: u32 = 200;

#[test]
fn strategies_choose_by_the_history() {
    use Parity::{Even, Odd};
    // In histories the first letter is the player's choice and the second the choice of P02, its next opponent, or of others.
    for (name, histories, expected) in [
        ("always_even", &[("P02", "ee oo eo oe")][..], Even),
        ("always_odd", &[("P02", "ee oo eo oe")], Odd),
        ("always_odd", &[], Odd),
        // It begins with even and alternates across opponents.
        ("alternate", &[], Even),
        ("alternate", &[("P02", "eo")], Odd),
        ("alternate", &[("P02", "eo oo")], Even),
        ("alternate", &[("P02", "eo"), ("P03", "oe")], Even),
        // It avoids what the opponent chooses most. Other opponents count if the two never met.
        ("frequency", &[("P02", "oe oe eo")], Odd),
        ("frequency", &[("P02", "eo eo ee")], Even),
        ("frequency", &[("P03", "eo eo eo eo"), ("P02", "ee")], Odd),
        ("frequency", &[("P03", "eo eo"), ("P04", "eo")], Even),
        // P02 repeats the previous choice of P01, which was even.
        ("markov", &[("P02", "ee oe eo oe oo eo ee")], Odd),
        // After (even, even) comes odd, after (odd, even) comes even. The choices of P02 alone would not show this.
        ("markov", &[("P02", "ee eo oe ee eo oe oe ee")], Even),
        ("markov", &[("P02", "ee eo oe ee eo oe oe oe")], Odd),
        // A new state leaves the opponent's favourite.
        ("markov", &[("P02", "ee ee oe")], Odd),
        ("pattern:3", &[("P02", "ee eo ee eo ee eo")], Odd),
        // Without a pattern it is frequency.
        ("pattern:3", &[("P02", "ee")], Odd),
        // It tries an untried arm first.
        ("bandit", &[("P02", "ee")], Odd),
    ] {
        assert_eq!(bet(&*strategy(name).unwrap(), &question(9), &memory(histories)), expected, "{name} {histories:?}");
    }
}

#[test]
fn without_a_preference_chance_decides() {
    let (equal, nothing) = (memory(&[("P02", "ee oo")]), memory(&[]));
    for (name, memory) in [("frequency", &equal), ("markov", &nothing), ("pattern", &nothing), ("bandit", &nothing)] {
        for number in 5..30 {
            let question = question(number);
            assert_eq!(bet(&*strategy(name).unwrap(), &question, memory), memory.toss(&question), "{name}");
        }
    }
}

fn expected_points(first: &str, second: &str) -> f64 {
    let (first, second) = (strategy(first).unwrap(), strategy(second).unwrap());
    let (mut of_first, mut of_second): (Vec<PlayedMatch>, Vec<PlayedMatch>) = (Vec::new(), Vec::new());
    let mut earned = 0.0;
    for number in 1..=MATCHES {
        let mut mirrored = question(number);
        mirrored.opponent = Some(PlayerId::numbered(1));
        let memory_of_second = Memory { player: PlayerId::numbered(2), ..remembering(&of_second) };
        let one = bet(&*first, &question(number), &remembering(&of_first));
        let two = bet(&*second, &mirrored, &memory_of_second);
        earned += if one == two { 1.0 } else { 1.5 };
        of_first.push(by_luck(played(number, "P02", one, two)));
        of_second.push(by_luck(played(number, "P01", two, one)));
    }
    earned / f64::from(MATCHES)
}

/// The match with a seeded number, so that both choices win equally often.
fn by_luck(mut played: PlayedMatch) -> PlayedMatch {
    let luck = Chance::Seeded(Seed::new(99, "numbers".parse().unwrap()));
    let odd = luck.pick(&played.match_id, &PlayerId::numbered(1), "", 2) == 1;
    let drawn = if odd { Parity::Odd } else { Parity::Even };
    let own = played.my_choice.as_deref().and_then(Parity::exact);
    if played.my_choice != played.opponent_choice {
        played.points = if own == Some(drawn) { 3 } else { 0 };
    }
    played
}

#[test]
fn frequency_beats_random_against_a_constant_player() {
    let (frequency, random) = (expected_points("frequency", "always_even"), expected_points("random", "always_even"));
    assert!(frequency > 1.49, "frequency: {frequency}");
    assert!((1.19..1.31).contains(&random), "random: {random}");
}

#[test]
fn pattern_and_markov_predict_an_alternating_player_and_frequency_does_not() {
    for clever in ["pattern", "pattern:1", "markov"] {
        let points = expected_points(clever, "alternate");
        assert!(points > 1.45, "{clever}: {points}");
    }
    let frequency = expected_points("frequency", "alternate");
    assert!(frequency < 1.45, "frequency: {frequency}");
}

#[test]
fn bandit_learns_from_its_points_alone() {
    let points = expected_points("bandit", "always_odd");
    assert!(points > 1.3, "bandit: {points}");
}

#[test]
fn no_strategy_gains_against_a_coin() {
    for clever in ["frequency", "pattern", "markov", "bandit"] {
        let points = expected_points(clever, "random");
        assert!((1.19..1.31).contains(&points), "{clever}: {points}");
    }
}

#[test]
fn the_same_seed_gives_the_same_tournament() {
    for name in ["random", "frequency", "pattern", "markov", "bandit"] {
        assert_eq!(expected_points(name, "random"), expected_points(name, "random"), "{name}");
    }
}
