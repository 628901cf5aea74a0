//! Exhaustive checks of round robins with up to 200 players.

use league_core::season::format::{KnownFormat, Pairing, RoundPlan};

const SIZES: std::ops::RangeInclusive<u32> = 2..=200;

fn rounds(players: u32) -> Vec<RoundPlan> {
    let format = KnownFormat::default();
    let rounds: Vec<RoundPlan> = (1..).map_while(|round| format.planned_round(players, round)).collect();
    assert_eq!(format.max_rounds(players), Some(rounds.len() as u32), "{players} players");
    let matches: usize = rounds.iter().map(|round| round.pairings.len()).sum();
    assert_eq!(format.max_matches(players), Some(matches as u64), "{players} players");
    rounds
}

fn pairings(rounds: &[RoundPlan]) -> impl Iterator<Item = Pairing> {
    rounds.iter().flat_map(|round| &round.pairings).copied()
}

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
    let pairs: Vec<(u32, u32)> = pairings(&rounds(4)).map(|pair| (pair.a.min(pair.b), pair.a.max(pair.b))).collect();
    assert_eq!(pairs, [(0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2)]);
}

#[test]
fn two_players_meet_once_and_fewer_never() {
    assert_eq!(pairings(&rounds(2)).collect::<Vec<_>>(), [Pairing { a: 0, b: 1 }]);
    assert_eq!((rounds(0), rounds(1)), (vec![], vec![]));
    assert_eq!(KnownFormat::default().planned_round(4, 0), None);
}

#[test]
fn three_players_have_a_bye_each_in_their_order() {
    assert_eq!(rounds(3).iter().map(|round| round.byes.clone()).collect::<Vec<_>>(), [[0], [1], [2]]);
}

#[test]
fn everyone_meets_everyone_once_and_has_one_match_or_the_bye_in_each_round() {
    for players in SIZES {
        let mut met = vec![false; (players * players) as usize];
        let rounds = rounds(players);
        for Pairing { a, b } in pairings(&rounds) {
            assert!(a != b && a < players && b < players, "{players} players: {a} meets {b}");
            let pair = &mut met[(a.min(b) * players + a.max(b)) as usize];
            assert!(!*pair, "{players} players: {a} and {b} meet again");
            *pair = true;
        }
        assert_eq!(pairings(&rounds).count() as u32, players * (players - 1) / 2, "{players} players");
        for (round, number) in rounds.iter().zip(1..) {
            let playing = round.pairings.iter().flat_map(|pairing| [pairing.a, pairing.b]);
            let present = counts(players, playing.chain(round.byes.iter().copied()));
            assert!(present.iter().all(|times| *times == 1), "{players} players, round {number}: {present:?}");
            assert_eq!(round.byes.len() as u32, players % 2);
        }
    }
}

#[test]
fn a_round_robin_of_four_times_swaps_the_sides_each_time() {
    let format: KnownFormat = "round_robin:times=4".parse().unwrap();
    for players in 2..=9 {
        let once = rounds(players);
        let all: Vec<RoundPlan> = (1..).map_while(|round| format.planned_round(players, round)).collect();
        assert_eq!(format.max_rounds(players), Some(4 * once.len() as u32));
        assert_eq!(format.max_matches(players), Some(2 * u64::from(players * (players - 1))));
        let swapped = |plan: &RoundPlan| RoundPlan {
            pairings: plan.pairings.iter().map(|pair| Pairing { a: pair.b, b: pair.a }).collect(),
            byes: plan.byes.clone(),
        };
        let expected = (0..4)
            .flat_map(|time| once.iter().map(move |plan| if time % 2 == 0 { plan.clone() } else { swapped(plan) }));
        assert_eq!(all, expected.collect::<Vec<_>>());
    }
}

#[test]
fn byes_and_sides_differ_by_one_at_most() {
    for players in SIZES {
        let rounds = rounds(players);
        let byes = counts(players, rounds.iter().flat_map(|round| round.byes.iter().copied()));
        assert!(spread(&byes) <= 1, "{players} players: byes {byes:?}");
        let as_a = counts(players, pairings(&rounds).map(|pairing| pairing.a));
        let as_b = counts(players, pairings(&rounds).map(|pairing| pairing.b));
        let odd_ones = as_a.iter().zip(&as_b).filter(|(a, b)| (*a - *b).abs() > 1).count();
        assert_eq!(odd_ones, 0, "{players} players: {as_a:?} times on side A, {as_b:?} on side B");
    }
}
