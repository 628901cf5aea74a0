//! The schedule's promises, tried exhaustively for every season of up to 200 players.

use league_core::season::schedule::{Pairing, Schedule};

const SIZES: std::ops::RangeInclusive<u32> = 2..=200;

/// All matches of a season, with their round and number.
fn season(schedule: Schedule) -> impl Iterator<Item = (u32, u32, Pairing)> {
    (1..=schedule.rounds()).flat_map(move |round| (1..).zip(schedule.round(round)).map(move |(n, p)| (round, n, p)))
}

/// How often each player is counted.
fn counts(players: u32, counted: impl Iterator<Item = u32>) -> Vec<i64> {
    let mut counts = vec![0; players as usize];
    for player in counted {
        counts[player as usize] += 1;
    }
    counts
}

fn spread(counts: &[i64]) -> i64 {
    counts.iter().max().unwrap_or(&0) - counts.iter().min().unwrap_or(&0)
}

#[test]
fn four_players_meet_as_the_protocol_says() {
    let schedule = Schedule::new(4);
    let pairs: Vec<(u32, u32)> = season(schedule).map(|(_, _, p)| (p.a.min(p.b), p.a.max(p.b))).collect();
    assert_eq!(pairs, [(0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2)]);
    assert_eq!((schedule.rounds(), schedule.matches_per_round(), schedule.total_matches()), (3, 2, 6));
}

#[test]
fn two_players_meet_once() {
    assert_eq!(season(Schedule::new(2)).collect::<Vec<_>>(), [(1, 1, Pairing { a: 0, b: 1 })]);
}

#[test]
fn three_players_have_a_bye_each_in_their_order() {
    let schedule = Schedule::new(3);
    assert_eq!((1..=3).map(|round| schedule.bye(round)).collect::<Vec<_>>(), [Some(0), Some(1), Some(2)]);
    assert_eq!(season(schedule).count(), 3);
}

#[test]
fn nobody_to_meet_means_no_rounds() {
    for players in [0, 1] {
        let schedule = Schedule::new(players);
        assert_eq!((schedule.rounds(), schedule.matches_per_round(), schedule.total_matches()), (0, 0, 0));
        assert_eq!(season(schedule).count(), 0);
        for round in 0..3 {
            assert_eq!(
                (schedule.pairing(round, 1), schedule.bye(round), schedule.opponent(round, 0)),
                (None, None, None)
            );
        }
        assert_eq!((schedule.meeting(0, 0), schedule.meeting(0, 1)), (None, None));
    }
}

#[test]
fn everyone_meets_everyone_exactly_once() {
    for players in SIZES {
        let mut met = vec![false; (players * players) as usize];
        let mut matches = 0;
        for (round, number, Pairing { a, b }) in season(Schedule::new(players)) {
            assert!(a != b && a < players && b < players, "{players} players: {a} meets {b} in R{round}M{number}");
            let pair = &mut met[(a.min(b) * players + a.max(b)) as usize];
            assert!(!*pair, "{players} players: {a} and {b} meet again in R{round}M{number}");
            *pair = true;
            matches += 1;
        }
        let every_pair = u64::from(players * (players - 1) / 2);
        assert_eq!((matches, Schedule::new(players).total_matches()), (every_pair, every_pair), "{players} players");
    }
}

#[test]
fn nobody_plays_twice_in_a_round_and_whoever_does_not_play_has_the_bye() {
    for players in SIZES {
        let schedule = Schedule::new(players);
        for round in 1..=schedule.rounds() {
            let playing = schedule.round(round).flat_map(|pairing| [pairing.a, pairing.b]);
            let present = counts(players, playing.chain(schedule.bye(round)));
            assert!(present.iter().all(|times| *times == 1), "{players} players, round {round}: {present:?}");
            assert_eq!(schedule.round(round).count(), schedule.matches_per_round() as usize);
            assert_eq!(schedule.bye(round).is_some(), players % 2 == 1);
        }
    }
}

#[test]
fn byes_and_sides_differ_by_one_at_most() {
    for players in SIZES {
        let schedule = Schedule::new(players);
        let byes = counts(players, (1..=schedule.rounds()).filter_map(|round| schedule.bye(round)));
        assert!(spread(&byes) <= 1, "{players} players: byes {byes:?}");
        let as_a = counts(players, season(schedule).map(|(_, _, pairing)| pairing.a));
        let as_b = counts(players, season(schedule).map(|(_, _, pairing)| pairing.b));
        let odd_ones = as_a.iter().zip(&as_b).filter(|(a, b)| (*a - *b).abs() > 1).count();
        assert_eq!(odd_ones, 0, "{players} players: {as_a:?} times on side A, {as_b:?} on side B");
    }
}

#[test]
fn meeting_and_opponent_agree_with_the_pairings() {
    for players in SIZES {
        let schedule = Schedule::new(players);
        for (round, number, pairing) in season(schedule) {
            let Pairing { a, b } = pairing;
            assert_eq!(schedule.pairing(round, number), Some(pairing));
            assert_eq!(schedule.meeting(a, b), Some((round, number)), "{players} players: {a} and {b}");
            assert_eq!(schedule.meeting(b, a), Some((round, number)), "{players} players: {b} and {a}");
            assert_eq!((schedule.opponent(round, a), schedule.opponent(round, b)), (Some(b), Some(a)));
        }
        for round in 1..=schedule.rounds() {
            assert!(schedule.bye(round).is_none_or(|resting| schedule.opponent(round, resting).is_none()));
        }
    }
}

#[test]
fn what_is_outside_of_the_season_is_nothing() {
    for players in [2, 3, 4, 5, 200] {
        let schedule = Schedule::new(players);
        let (rounds, matches) = (schedule.rounds(), schedule.matches_per_round());
        for (round, number) in [(0, 1), (1, 0), (rounds + 1, 1), (1, matches + 1), (u32::MAX, u32::MAX)] {
            assert_eq!(schedule.pairing(round, number), None, "{players} players: R{round}M{number}");
        }
        assert_eq!(schedule.round(0).chain(schedule.round(rounds + 1)).count(), 0);
        assert_eq!((schedule.bye(0), schedule.bye(rounds + 1)), (None, None));
        assert_eq!((schedule.opponent(1, players), schedule.opponent(0, 0)), (None, None));
        assert_eq!((schedule.meeting(0, players), schedule.meeting(1, 1)), (None, None));
    }
}

#[test]
fn a_thousand_players_are_paired_one_match_at_a_time() {
    let (mut count, mut sum) = (0_u64, 0_u64);
    for (_, _, Pairing { a, b }) in season(Schedule::new(1_000)) {
        count += 1;
        sum += u64::from(a) + u64::from(b);
    }
    // Every player, whose indices sum up to 499,500, plays 999 times.
    assert_eq!((count, sum), (499_500, 499_500 * 999));
}

#[test]
fn the_largest_season_does_not_overflow() {
    for players in [u32::MAX, u32::MAX - 1] {
        let schedule = Schedule::new(players);
        let (rounds, matches) = (schedule.rounds(), schedule.matches_per_round());
        for (round, number) in [(1, 1), (1, matches), (rounds / 2, matches / 2), (rounds, 1), (rounds, matches)] {
            let Some(Pairing { a, b }) = schedule.pairing(round, number) else {
                panic!("{players} players have no R{round}M{number}");
            };
            assert_eq!(schedule.meeting(a, b), Some((round, number)));
            assert_eq!(schedule.opponent(round, a), Some(b));
        }
        assert_eq!(schedule.total_matches(), u64::from(players) * u64::from(players - 1) / 2);
    }
}
