//! Whole leagues of every format, with any results, joining and leaving players.

use std::collections::{BTreeMap, BTreeSet};

use league_protocol::draw::DrawSecret;
use league_protocol::id::{MatchId, RoundId};
use league_protocol::message::query::LeagueQuery;
use league_protocol::side::Side;
use proptest::prelude::*;
use serde_json::json;

use super::{League, admitted, config, ended, line, now, p, player};
use crate::rules::outcome::Outcome;
use crate::season::agent::AgentId;
use crate::season::apply::BadEvent;
use crate::season::config::LeagueConfig;
use crate::season::event::{Event, Fact};
use crate::season::format::RoundPlan;
use crate::season::{LeaguePhase, NextAction, Registered};

fn with_format(format: &str) -> LeagueConfig {
    LeagueConfig { format: format.parse().unwrap(), ..config() }
}

fn league(format: &str, players: u32) -> League {
    League::running_with(with_format(format), players, &[1000])
}

/// Plays the current round and starts the next one. False when the league is over.
fn next(league: &mut League, outcome: impl Fn(&MatchId) -> Outcome) -> bool {
    league.play_round(outcome);
    if matches!(league.season.next_action(), NextAction::StartRound(_)) {
        league.start_round();
    }
    league.season.phase() == LeaguePhase::RunningLeague
}

fn plan(league: &League) -> RoundPlan {
    league.season.rounds.last().unwrap().plan().clone()
}

fn outcome(number: u8) -> Outcome {
    match number % 8 {
        0..=2 => Outcome::Win(Side::A),
        3..=5 => Outcome::Win(Side::B),
        6 => Outcome::Draw,
        _ => Outcome::Forfeit(Side::A),
    }
}

fn any_outcome(results: &[u8]) -> impl Fn(&MatchId) -> Outcome + '_ {
    |match_id| {
        let (round, number) = match_id.parts().unwrap();
        outcome(results[(round.0 * 31 + number * 7) as usize % results.len()])
    }
}

/// The fewest pairs that meet again, over all ways to pair the players.
fn fewest_rematches(left: &[u32], met: &BTreeSet<(u32, u32)>) -> usize {
    let Some((first, rest)) = left.split_first() else { return 0 };
    let without = |other: u32| rest.iter().copied().filter(|each| *each != other).collect::<Vec<_>>();
    let again = |other: u32| usize::from(met.contains(&(*first.min(&other), *first.max(&other))));
    let paired = rest.iter().map(|other| again(*other) + fewest_rematches(&without(*other), met));
    let bye = (left.len() % 2 == 1).then(|| fewest_rematches(rest, met));
    paired.chain(bye).min().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_swiss_round_has_everyone_once_and_no_rematch_while_avoidable(
        players in 2..13_u32,
        rounds in 1..8_u32,
        results in prop::collection::vec(any::<u8>(), 64),
        leaver in prop::option::of((1..13_u32, 1..8_u32)),
    ) {
        let mut league = league(&format!("swiss:rounds={rounds}"), players);
        let (mut met, mut byes, mut sides) = (BTreeSet::new(), BTreeMap::<u32, u32>::new(), BTreeMap::<u32, i32>::new());
        for round in 1.. {
            let RoundPlan { pairings, byes: without } = plan(&league);
            let present: Vec<u32> = {
                let players = (0..).zip(league.season.players());
                players.filter(|(_, player)| !player.withdrawn).map(|(place, _)| place).collect()
            };
            let mut seen: Vec<u32> = pairings.iter().flat_map(|pair| [pair.a, pair.b]).chain(without.clone()).collect();
            seen.sort_unstable();
            prop_assert_eq!(&seen, &present);
            let pairs: Vec<(u32, u32)> = pairings.iter().map(|pair| (pair.a.min(pair.b), pair.a.max(pair.b))).collect();
            let again = pairs.iter().filter(|pair| met.contains(*pair)).count();
            if present.len() <= 10 {
                prop_assert_eq!(again, fewest_rematches(&present, &met));
            }
            met.extend(pairs);
            for pairing in pairings {
                *sides.entry(pairing.a).or_default() += 1;
                *sides.entry(pairing.b).or_default() -= 1;
            }
            for player in without {
                *byes.entry(player).or_default() += 1;
            }
            if let Some((number, _)) = leaver.filter(|(number, at)| *at == round && *number <= players) {
                league.withdraw(number);
            }
            if !next(&mut league, any_outcome(&results)) {
                break;
            }
        }
        if rounds < players / 2 {
            let left = u32::from(leaver.is_some());
            prop_assert_eq!(met.len() as u32, league.season.matches_completed(), "no pair meets twice");
            prop_assert!(byes.values().all(|byes| *byes == 1), "{byes:?}");
            prop_assert!(sides.values().all(|balance| balance.abs() <= 2) || left > 0, "{sides:?}");
        }
        prop_assert_eq!(league.season.phase(), LeaguePhase::LeagueCompleted);
        prop_assert_eq!(league.replayed(), league.season);
    }

    #[test]
    fn a_knockout_has_one_champion_that_won_every_stage(
        players in 2..20_u32,
        best_of in prop_oneof![Just(1_u32), Just(3), Just(5)],
        seeding in prop_oneof![Just("registration"), Just("draw")],
        results in prop::collection::vec(any::<u8>(), 64),
        leaver in prop::option::of((1..20_u32, 1..8_u32)),
    ) {
        let mut league = league(&format!("knockout:best_of={best_of},seeding={seeding}"), players);
        let byes = plan(&league).byes.len() as u32;
        prop_assert_eq!(byes, players.next_power_of_two() - players);
        for round in 1.. {
            if let Some((number, _)) = leaver.filter(|(number, at)| *at == round && *number <= players) {
                league.withdraw(number);
            }
            if !next(&mut league, any_outcome(&results)) {
                break;
            }
        }
        let season = &league.season;
        prop_assert_eq!(season.phase(), LeaguePhase::LeagueCompleted);
        let ranks: Vec<u32> = season.standings().iter().map(|row| row.rank).collect();
        prop_assert_eq!(ranks.iter().filter(|rank| **rank == 1).count(), 1);
        prop_assert_eq!(ranks.iter().filter(|rank| **rank == 2).count(), 1);
        let ties = players - 1;
        prop_assert!((ties * best_of.div_ceil(2)..=ties * (best_of + 2)).contains(&season.matches_completed()));
        prop_assert_eq!(league.replayed(), league.season);
    }
}

#[test]
fn larger_swiss_leagues_have_no_rematch_one_bye_each_and_balanced_sides() {
    for (players, rounds) in [(33, 9), (64, 6), (101, 7)] {
        let mut league = league(&format!("swiss:rounds={rounds}"), players);
        let results: Vec<u8> = (0..64).map(|number: u8| number.wrapping_mul(37) ^ 0x5a).collect();
        while next(&mut league, any_outcome(&results)) {}
        let season = &league.season;
        let pairings: Vec<_> = season.rounds.iter().flat_map(|round| round.plan().pairings.clone()).collect();
        let met: BTreeSet<(u32, u32)> = pairings.iter().map(|pair| (pair.a.min(pair.b), pair.a.max(pair.b))).collect();
        assert_eq!(met.len(), pairings.len(), "no pair meets twice");
        let byes: BTreeSet<u32> = season.rounds.iter().flat_map(|round| round.plan().byes.clone()).collect();
        assert_eq!(byes.len() as u32, rounds * (players % 2), "no player has two byes");
        for place in 0..players {
            let balance: i32 =
                pairings.iter().map(|pair| i32::from(pair.a == place) - i32::from(pair.b == place)).sum();
            assert!(balance.abs() <= 2, "{players} players: {place} has {balance}");
        }
        let scores: u32 = season.standings().iter().map(|row| row.points).sum();
        let expected = season.standings().iter().map(|row| 3 * row.wins + row.draws).sum::<u32>();
        assert_eq!(scores, expected + 3 * byes.len() as u32, "a bye gives the points of a win");
    }
}

#[test]
fn winners_meet_winners_in_the_second_round() {
    let mut league = league("swiss:rounds=3", 8);
    assert!(next(&mut league, |_| Outcome::Win(Side::A)));
    let winners: BTreeSet<u32> = (0..8).filter(|place| league.season.table().row(*place).points == 3).collect();
    for pair in plan(&league).pairings {
        assert_eq!(winners.contains(&pair.a), winners.contains(&pair.b));
    }
}

#[test]
fn a_swiss_league_has_as_many_rounds_as_its_players_need_unless_configured() {
    for (players, rounds) in [(2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (17, 5)] {
        assert_eq!(league("swiss", players).season.total_rounds(), rounds, "{players} players");
    }
    assert_eq!(league("swiss:rounds=9", 4).season.total_rounds(), 9);
}

#[test]
fn a_swiss_league_takes_players_between_its_rounds_and_others_do_not() {
    let mut league = league("swiss:rounds=3", 4);
    assert_eq!(line(&league.register(&player(7))), "P05");
    let wish = serde_json::from_value(json!({ "player_meta": super::meta("Wish", 8150, None), "player_id": "P02" }));
    assert_eq!(line(&league.register(&wish.unwrap())), "P06", "a lower id is not free");
    assert_eq!(line(&league.register(&player(7))), "P05 again");
    assert!(plan(&league).pairings.len() == 2 && league.season.total_rounds() == 3);
    assert!(next(&mut league, |_| Outcome::Win(Side::A)));
    let second = plan(&league);
    let present: BTreeSet<u32> = second.pairings.iter().flat_map(|pair| [pair.a, pair.b]).chain(second.byes).collect();
    assert_eq!(present, (0..6).collect());
    league.withdraw(5);
    assert!(next(&mut league, |_| Outcome::Win(Side::A)));
    assert!(!plan(&league).pairings.iter().any(|pair| pair.a == 4 || pair.b == 4), "a player that left is not paired");
    assert!(matches!(league.register(&player(8)), Registered::Rejected(_)), "the last round has begun");
    assert!(!next(&mut league, |_| Outcome::Draw));
    assert_eq!(league.replayed(), league.season);
    for format in ["round_robin", "knockout"] {
        assert!(matches!(self::league(format, 4).register(&player(7)), Registered::Rejected(_)), "{format}");
    }
}

#[test]
fn a_league_of_one_remaining_player_ends() {
    let mut league = league("swiss:rounds=3", 3);
    league.withdraw(1);
    league.withdraw(2);
    assert!(!next(&mut league, |_| Outcome::Draw));
    assert_eq!((league.season.total_rounds(), league.season.total_matches()), (1, 1));
}

#[test]
fn queries_say_that_the_next_round_is_not_decided_yet() {
    let mut league = league("swiss:rounds=2", 4);
    let query: LeagueQuery =
        serde_json::from_value(json!({ "query_type": "GET_NEXT_MATCH", "query_params": { "player_id": "P01" } }))
            .unwrap();
    let ask = |league: &League| league.season.query(&query, &AgentId::Player(p(1))).unwrap();
    assert_eq!(ask(&league).data.next_match.unwrap().match_id.as_str(), "R1M1");
    assert_eq!((league.season.total_matches(), league.season.scheduled_rounds().len()), (4, 1));
    league.play_round(|_| Outcome::Draw);
    assert_eq!(ask(&league).error.unwrap(), "the next match of P01 is decided when the next round begins");
    league.start_round();
    assert!(ask(&league).success);
    league.play_round(|_| Outcome::Draw);
    assert_eq!(ask(&league).error.unwrap(), "no match is left for P01");
    assert_eq!(league.season.scheduled_rounds().len(), 2);
}

#[test]
fn the_first_to_register_are_seeded_first_and_have_the_byes() {
    let mut league = League::with(with_format("knockout"));
    for number in [5, 1, 4, 2, 3] {
        let wish =
            json!({ "player_meta": super::meta(&format!("N{number}"), 8100 + number, None), "player_id": p(number) });
        admitted(league.register(&serde_json::from_value(wish).unwrap()));
    }
    league.admit_referee(&super::referee(1, 10));
    league.start();
    let ids = |places: Vec<u32>| places.into_iter().map(|place| place + 1).collect::<Vec<_>>();
    let RoundPlan { pairings, byes } = plan(&league);
    assert_eq!(ids(byes), [5, 1, 4]);
    assert_eq!(ids(pairings.iter().flat_map(|pair| [pair.a, pair.b]).collect()), [2, 3]);
    assert!(next(&mut league, |_| Outcome::Win(Side::B)));
    assert_eq!(plan(&league).pairings.len(), 2);
}

#[test]
fn a_tie_ends_when_its_leader_cannot_be_caught_and_swaps_sides() {
    let mut league = league("knockout:best_of=5", 2);
    let mut sides = Vec::new();
    loop {
        let pair = plan(&league).pairings[0];
        sides.push((pair.a, pair.b));
        // P01 wins three times running, whatever its side.
        let side = if pair.a == 0 { Side::A } else { Side::B };
        if !next(&mut league, |_| Outcome::Win(side)) {
            break;
        }
    }
    assert_eq!(sides, [(0, 1), (1, 0), (0, 1)]);
    assert_eq!(league.season.champion().unwrap().player_id, p(1));
    assert_eq!(league.table(), ["1 P01 9", "2 P02 0"]);
}

#[test]
fn a_drawn_tie_gets_two_more_matches_and_then_a_lot_that_the_log_proves() {
    for best_of in [1, 3] {
        let mut league = league(&format!("knockout:best_of={best_of}"), 2);
        while next(&mut league, |_| Outcome::Draw) {}
        assert_eq!(league.season.matches_completed(), best_of + 2);
        let drawn = league.log.iter().position(|event| matches!(event.fact, Fact::LotDrawn { .. })).unwrap();
        assert_eq!(league.log[drawn + 1].fact, Fact::LeagueCompleted);
        let before = crate::season::Season::replay(&league.log[..drawn]).unwrap();
        let Fact::LotDrawn { rounds, .. } = league.log[drawn].fact else { unreachable!() };
        for secret in [[0; 32], [9; 32]] {
            let fact = Fact::LotDrawn { rounds, secret: DrawSecret(secret) };
            let refused = before.clone().apply(&Event { at: now(), fact });
            assert_eq!(refused, Err(BadEvent::Untimely("this lot")), "a lot shows the next secret of the chain");
        }
        assert!(before.clone().apply(&Event { at: now(), fact: Fact::LeagueCompleted }).is_err());
    }
    let mut quick = league("knockout", 2);
    assert!(next(&mut quick, |_| Outcome::Draw));
    assert!(!next(&mut quick, |_| Outcome::Win(Side::A)));
    assert_eq!(quick.table(), ["1 P02 4", "2 P01 1"], "the sides were swapped");
}

#[test]
fn lots_depend_on_the_results_and_not_on_their_order() {
    let champion = |reports: [usize; 2], outcome: Outcome| {
        let mut league = league("knockout", 4);
        for round in 1..=4 {
            let held = league.assign();
            for index in reports.iter().filter(|index| **index < held.len()) {
                let record = if round == 4 { ended(Outcome::Draw) } else { ended(outcome) };
                league.report(&held[*index], record).unwrap();
            }
            league.start_round();
        }
        plan(&league)
    };
    assert_eq!(champion([0, 1], Outcome::Draw), champion([1, 0], Outcome::Draw));
}

#[test]
fn a_withdrawn_player_of_a_knockout_forfeits_its_matches() {
    let mut league = league("knockout:best_of=3", 4);
    league.withdraw(1);
    while next(&mut league, |_| Outcome::Win(Side::A)) {}
    let out = league.season.standings().into_iter().find(|row| row.player_id == p(1)).unwrap();
    assert_eq!((out.rank, out.wins, out.losses), (3, 0, 2));
    assert_eq!(league.season.scheduled_round(RoundId(1)).unwrap().matches.len(), 2);
}
