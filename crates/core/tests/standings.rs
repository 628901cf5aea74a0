use league_core::rules::outcome::Outcome::{self, DoubleForfeit as BothForfeit, Draw, Forfeit, Win};
use league_core::season::format::{KnownFormat, Pairing};
use league_core::season::standings::{DoubleForfeit, Scoring, Standing, StandingRecord, Table, TieBreak};
use league_protocol::side::Pair;
use league_protocol::side::Side::{A, B};
use proptest::prelude::*;

use TieBreak::{Buchholz, Draws, HeadToHead, SonnebornBerger, Wins};

type Results = Vec<(u32, u32, Outcome)>;

fn round_robin(players: u32) -> Vec<Pairing> {
    let rounds = (1..).map_while(|round| KnownFormat::default().planned_round(players, round));
    rounds.flat_map(|round| round.pairings).collect()
}

fn table(players: u32, scoring: &Scoring, results: &[(u32, u32, Outcome)]) -> Table {
    let mut table = Table::new(players, scoring.clone());
    for (a, b, outcome) in results {
        assert!(table.record(Pairing::new(*a, *b), *outcome), "{a} against {b}");
    }
    table
}

fn places(players: u32, tiebreakers: &[TieBreak], results: &[(u32, u32, Outcome)]) -> Vec<Standing> {
    let scoring = Scoring { tiebreakers: tiebreakers.to_vec(), ..Scoring::default() };
    table(players, &scoring, results).places()
}

fn order(places: &[Standing]) -> Vec<u32> {
    places.iter().map(|place| place.player).collect()
}

#[test]
fn a_row_counts_every_kind_of_end() {
    let results = [(0, 1, Win(A)), (2, 0, Win(A)), (0, 3, Draw), (0, 4, Forfeit(A)), (5, 0, Forfeit(A))];
    let row = StandingRecord {
        played: 5,
        wins: 2,
        draws: 1,
        losses: 2,
        points: 7,
        technical_losses: 1,
        byes: 0,
        score: None,
    };
    assert_eq!(table(6, &Scoring::default(), &results).row(0), row);
}

#[test]
fn a_double_forfeit_is_a_draw_or_two_losses_as_the_league_configures() {
    let forfeit = StandingRecord { played: 1, technical_losses: 1, ..StandingRecord::default() };
    for (double_forfeit, row) in [
        (DoubleForfeit::Draw, StandingRecord { draws: 1, points: 1, ..forfeit }),
        (DoubleForfeit::TechnicalLoss, StandingRecord { losses: 1, ..forfeit }),
    ] {
        let scoring = Scoring { double_forfeit, ..Scoring::default() };
        let table = table(2, &scoring, &[(0, 1, BothForfeit)]);
        assert_eq!((table.row(0), table.row(1)), (row, row));
    }
}

#[test]
fn a_result_of_an_unknown_player_is_not_counted() {
    let mut table = Table::new(2, Scoring::default());
    for (a, b) in [(0, 2), (2, 0), (1, 1), (u32::MAX, 0)] {
        assert!(!table.record(Pairing::new(a, b), Win(A)), "{a} against {b}");
    }
    assert!((0..3).all(|player| table.row(player) == StandingRecord::default()));
    assert_eq!(order(&table.places()), [0, 1]);
    assert!(Table::new(0, Scoring::default()).places().is_empty());
}

#[test]
fn immense_points_do_not_wrap() {
    let scoring = Scoring { win_points: u32::MAX, ..Scoring::default() };
    let table = table(3, &scoring, &[(0, 1, Win(A)), (0, 2, Win(A)), (1, 2, Win(A))]);
    assert_eq!((table.row(0).points, table.row(1).points), (u32::MAX, u32::MAX));
    assert_eq!(order(&table.places()), [0, 1, 2]);
}

#[test]
fn equal_players_share_a_rank_and_the_next_rank_counts_them() {
    let ranks = |players, tiebreakers: &[TieBreak], results: &[_]| {
        places(players, tiebreakers, results).into_iter().map(|place| place.rank).collect::<Vec<_>>()
    };
    assert_eq!(ranks(3, &[Wins, HeadToHead, Draws], &[]), [1, 1, 1]);
    assert_eq!(ranks(4, &[Wins], &[(0, 1, Draw), (2, 3, Win(B))]), [1, 2, 2, 4]);
}

#[test]
fn points_rank_first_and_then_each_tie_break_in_its_order() {
    type Ranking = (&'static [TieBreak], &'static [u32]);
    type Case<'a> = (&'a str, u32, &'a [(u32, u32, Outcome)], &'a [Ranking]);
    let cases: [Case<'_>; 10] = [
        ("players without matches rank by index", 4, &[], &[(&[Wins, HeadToHead, Draws], &[0, 1, 2, 3])]),
        (
            "points come first",
            4,
            &[(0, 1, Draw), (2, 3, Win(B))],
            &[(&[], &[3, 0, 1, 2]), (&[Wins], &[3, 0, 1, 2]), (&[Draws, Wins], &[3, 0, 1, 2])],
        ),
        (
            "one win of player 1 equals three draws of player 0, until the tie-break counts wins or draws",
            5,
            &[(0, 2, Draw), (0, 3, Draw), (0, 4, Draw), (1, 2, Win(A)), (1, 3, Win(B)), (1, 4, Win(B))],
            &[
                (&[], &[3, 4, 0, 1, 2]),
                (&[Wins], &[3, 4, 1, 0, 2]),
                (&[Draws], &[3, 4, 0, 1, 2]),
                (&[Wins, Draws], &[3, 4, 1, 0, 2]),
                (&[Draws, Wins], &[3, 4, 0, 1, 2]),
            ],
        ),
        (
            "0 and 3 have a win each, and 3 won against 0",
            4,
            &[(0, 3, Win(B)), (0, 1, Win(A)), (1, 2, Draw)],
            &[(&[HeadToHead], &[3, 0, 1, 2]), (&[Wins, HeadToHead], &[3, 0, 1, 2]), (&[], &[0, 3, 1, 2])],
        ),
        (
            "players 0 and 1 meet twice: 0 made four points and 1 one",
            3,
            &[(0, 1, Win(A)), (1, 0, Draw), (0, 2, Forfeit(A)), (2, 1, Win(B))],
            &[(&[HeadToHead], &[0, 1, 2])],
        ),
        ("a forfeit counts between the two", 3, &[(1, 0, Forfeit(B)), (0, 2, Win(A))], &[(&[HeadToHead], &[1, 0, 2])]),
        (
            "each of three beat the next one, so the index decides",
            3,
            &[(2, 1, Win(A)), (1, 0, Win(A)), (0, 2, Win(A))],
            &[(&[HeadToHead], &[0, 1, 2]), (&[HeadToHead, Wins, HeadToHead], &[0, 1, 2])],
        ),
        (
            "1, 2 and 3 end with six points; against each other 3 made six, 2 three, 1 none",
            5,
            &[
                (3, 2, Win(A)),
                (3, 1, Win(A)),
                (2, 1, Win(A)),
                (2, 0, Win(A)),
                (1, 0, Win(A)),
                (1, 4, Win(A)),
                (0, 3, Win(A)),
                (4, 3, Win(A)),
            ],
            &[(&[HeadToHead], &[3, 2, 1, 0, 4]), (&[], &[1, 2, 3, 0, 4])],
        ),
        (
            "0, 1 and 2 are equal and 1 leads among them, until wins have separated 2",
            7,
            &[(1, 2, Win(A)), (0, 1, Draw), (0, 3, Win(A)), (2, 3, Draw), (2, 4, Draw), (2, 5, Draw), (2, 6, Draw)],
            &[(&[HeadToHead], &[1, 0, 2]), (&[Wins, HeadToHead], &[0, 1, 2])],
        ),
        (
            "0 to 3 have three points each; head-to-head separates 0, the next criterion compares the other three",
            7,
            &[
                (0, 1, Win(A)),
                (1, 4, Draw),
                (1, 5, Draw),
                (1, 6, Draw),
                (2, 5, Win(A)),
                (3, 4, Draw),
                (3, 5, Draw),
                (3, 6, Draw),
                (4, 6, Win(A)),
            ],
            &[
                (&[HeadToHead, Draws], &[4, 0, 1, 3, 2, 5, 6]),
                (&[HeadToHead, Wins], &[4, 0, 2, 1, 3, 5, 6]),
                (&[HeadToHead], &[4, 0, 1, 2, 3, 5, 6]),
            ],
        ),
    ];
    for (about, players, results, rankings) in cases {
        for (tiebreakers, expected) in rankings {
            let order = order(&places(players, tiebreakers, results));
            assert_eq!(order[..expected.len()], **expected, "{about}, by {tiebreakers:?}");
        }
    }
}

/// A reference implementation that scans all results for every question.
mod plain {
    use super::*;

    pub(crate) fn row(player: u32, scoring: &Scoring, results: &[(u32, u32, Outcome)]) -> StandingRecord {
        let mut row = StandingRecord::default();
        for (a, b, outcome) in results {
            let side = match player {
                _ if *a == player => A,
                _ if *b == player => B,
                _ => continue,
            };
            let shared = *outcome == Draw || (*outcome == BothForfeit && scoring.double_forfeit == DoubleForfeit::Draw);
            row.played += 1;
            row.wins += u32::from(outcome.winner() == Some(side));
            row.draws += u32::from(shared);
            row.losses += u32::from(!shared && outcome.winner() != Some(side));
            row.points += outcome.points(&scoring.match_points())[side];
            row.technical_losses += u32::from(outcome.forfeited(side));
        }
        row
    }

    fn score(player: u32, by: TieBreak, equals: &[u32], scoring: &Scoring, results: &[(u32, u32, Outcome)]) -> u32 {
        let row = row(player, scoring, results);
        match by {
            Wins => row.wins,
            Draws => row.draws,
            HeadToHead => {
                let among = |(a, b, _): &&(u32, u32, Outcome)| equals.contains(a) && equals.contains(b);
                self::row(player, scoring, &results.iter().filter(among).copied().collect::<Vec<_>>()).points
            }
            Buchholz => {
                against(player, results).map(|(opponent, _)| self::row(opponent, scoring, results).points).sum()
            }
            SonnebornBerger => against(player, results)
                .map(|(opponent, result)| {
                    self::row(player, scoring, &[result]).points * self::row(opponent, scoring, results).points
                })
                .sum(),
        }
    }

    fn against(player: u32, results: &[(u32, u32, Outcome)]) -> impl Iterator<Item = (u32, (u32, u32, Outcome))> {
        results.iter().copied().filter_map(move |result| match result {
            (a, b, _) if a == player => Some((b, result)),
            (a, b, _) if b == player => Some((a, result)),
            _ => None,
        })
    }

    pub(crate) fn places(players: u32, scoring: &Scoring, results: &[(u32, u32, Outcome)]) -> Vec<Standing> {
        let all: Vec<u32> = (0..players).collect();
        let mut groups = parted(vec![all], |player, _| row(player, scoring, results).points);
        for by in &scoring.tiebreakers {
            groups = parted(groups, |player, equals| score(player, *by, equals, scoring, results));
        }
        let (mut places, mut next) = (Vec::new(), 1);
        for group in groups {
            let rank = next;
            for player in group {
                places.push(Standing { player, rank });
                next += 1;
            }
        }
        places
    }

    fn parted(groups: Vec<Vec<u32>>, score: impl Fn(u32, &[u32]) -> u32) -> Vec<Vec<u32>> {
        let part = |group: Vec<u32>| {
            let mut parts = std::collections::BTreeMap::<u32, Vec<u32>>::new();
            for player in &group {
                parts.entry(score(*player, &group)).or_default().push(*player);
            }
            parts.into_values().rev()
        };
        groups.into_iter().flat_map(part).collect()
    }
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        3 => Just(Win(A)),
        3 => Just(Win(B)),
        3 => Just(Draw),
        1 => Just(Forfeit(A)),
        1 => Just(Forfeit(B)),
        1 => Just(BothForfeit)
    ]
}

fn scorings() -> impl Strategy<Value = Scoring> {
    let tiebreak = prop_oneof![Just(Wins), Just(HeadToHead), Just(Draws), Just(Buchholz), Just(SonnebornBerger)];
    let double_forfeit = prop_oneof![Just(DoubleForfeit::Draw), Just(DoubleForfeit::TechnicalLoss)];
    // Few points, so that ties are frequent.
    (1..4_u32, 0..2_u32, prop::collection::vec(tiebreak, 0..5), double_forfeit).prop_map(
        |(win_points, draw_points, tiebreakers, double_forfeit)| Scoring {
            win_points,
            draw_points,
            tiebreakers,
            double_forfeit,
            ..Scoring::default()
        },
    )
}

/// Results in any order, of the whole league or a part of it.
fn seasons() -> impl Strategy<Value = (u32, Results)> {
    (2..12_u32).prop_flat_map(|players| {
        let matches = round_robin(players);
        let outcomes = prop::collection::vec(outcomes(), 0..=matches.len());
        let results = outcomes.prop_map(move |outcomes| {
            matches.iter().zip(outcomes).map(|(pairing, outcome)| (pairing.a, pairing.b, outcome)).collect::<Results>()
        });
        (Just(players), results.prop_shuffle())
    })
}

proptest! {
    /// The reference does not depend on the order of the results, so neither does the table.
    #[test]
    fn a_table_equals_one_computed_afresh_after_every_result((players, results) in seasons(), scoring in scorings()) {
        let mut table = Table::new(players, scoring.clone());
        for (count, (a, b, outcome)) in (1..).zip(&results) {
            table.record(Pairing::new(*a, *b), *outcome);
            let so_far = &results[..count];
            let rows = |row: &dyn Fn(u32) -> StandingRecord| (0..players).map(row).collect::<Vec<_>>();
            prop_assert_eq!(rows(&|player| table.row(player)), rows(&|player| plain::row(player, &scoring, so_far)));
            prop_assert_eq!(table.places(), plain::places(players, &scoring, so_far));
        }
    }
}

#[test]
fn a_bye_counts_as_a_win_against_a_player_with_the_same_points() {
    let scoring = Scoring { tiebreakers: vec![Buchholz], ..Scoring::default() };
    let mut table = table(4, &scoring, &[(0, 1, Win(A)), (2, 1, Win(A)), (2, 3, Draw)]);
    table.record_bye(3);
    table.record_bye(9);
    assert_eq!(table.row(3), StandingRecord { played: 1, draws: 1, points: 4, byes: 1, ..StandingRecord::default() });
    // Players 2 and 3 have four points each: against 0 + 4, and against 4 + its own 4.
    assert_eq!(order(&table.places()), [3, 2, 0, 1]);
}

#[test]
fn players_that_leave_in_the_same_stage_share_a_place_whatever_their_points() {
    let table = table(4, &Scoring::default(), &[(0, 1, Win(A)), (2, 3, Win(A)), (0, 2, Win(B))]);
    let places: Vec<_> = table.places_by_stages(&[1, 0, 2, 0]).iter().map(|place| (place.player, place.rank)).collect();
    assert_eq!(places, [(2, 1), (0, 2), (1, 3), (3, 3)]);
}

/// A thousand players that drew every match form one tie, the worst case of the ranking.
#[test]
fn a_thousand_equals_are_ranked() {
    let mut table = Table::new(1_000, Scoring::default());
    for pairing in round_robin(1_000) {
        table.record(pairing, Draw);
    }
    assert!(table.places().iter().enumerate().all(|(index, place)| place.player as usize == index && place.rank == 1));
    assert_eq!(table.row(0).points, 999);
}

#[test]
fn a_table_with_scores_ranks_by_the_mean_score() {
    let mut table = Table::new(3, Scoring::default());
    // Player 2 defects and beats player 0, who scores more on average.
    table.record(Pairing::new(0, 1), Draw);
    table.add_score(Pairing::new(0, 1), Pair::new(600, 600));
    table.record(Pairing::new(0, 2), Win(B));
    table.add_score(Pairing::new(0, 2), Pair::new(199, 204));
    let order: Vec<u32> = table.places().iter().map(|place| place.player).collect();
    assert_eq!(order, [1, 0, 2]);
    assert_eq!(table.row(0).score, Some(799));
}
