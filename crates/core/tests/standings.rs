use league_core::rules::outcome::Outcome::{self, DoubleForfeit as BothForfeit, Draw, Forfeit, Win};
use league_core::season::format::{KnownFormat, Pairing};
use league_core::season::standings::{DoubleForfeit, Scoring, Standing, StandingRecord, Table, TieBreak};
use league_protocol::side::Side::{A, B};
use proptest::prelude::*;

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

fn ranking(players: u32, tiebreakers: &[TieBreak], results: &[(u32, u32, Outcome)]) -> Vec<u32> {
    let scoring = Scoring { tiebreakers: tiebreakers.to_vec(), ..Scoring::default() };
    order(&table(players, &scoring, results))
}

fn order(table: &Table) -> Vec<u32> {
    table.places().into_iter().map(|place| place.player).collect()
}

fn ranks(players: u32, tiebreakers: &[TieBreak], results: &[(u32, u32, Outcome)]) -> Vec<u32> {
    let scoring = Scoring { tiebreakers: tiebreakers.to_vec(), ..Scoring::default() };
    table(players, &scoring, results).places().into_iter().map(|place| place.rank).collect()
}

mod rows {
    use super::*;

    #[test]
    fn a_row_counts_every_kind_of_end() {
        let results = [(0, 1, Win(A)), (2, 0, Win(A)), (0, 3, Draw), (0, 4, Forfeit(A)), (5, 0, Forfeit(A))];
        let table = table(6, &Scoring::default(), &results);
        let row = StandingRecord { played: 5, wins: 2, draws: 1, losses: 2, points: 7, technical_losses: 1 };
        assert_eq!(table.row(0), row);
    }

    #[test]
    fn two_players_that_meet_twice_count_twice() {
        let results = [(0, 1, Win(A)), (1, 0, Draw), (0, 2, Forfeit(A)), (2, 1, Win(B))];
        let table = table(3, &Scoring::default(), &results);
        assert_eq!((0..3).map(|player| table.row(player).points).collect::<Vec<_>>(), [4, 4, 3]);
        // In their two matches player 0 made four points and player 1 one.
        assert_eq!(ranking(3, &[TieBreak::HeadToHead], &results), [0, 1, 2]);
    }

    #[test]
    fn both_forfeit_and_it_is_a_draw_that_shows_as_technical() {
        let table = table(2, &Scoring::default(), &[(0, 1, BothForfeit)]);
        let row = StandingRecord { played: 1, draws: 1, points: 1, technical_losses: 1, ..StandingRecord::default() };
        assert_eq!((table.row(0), table.row(1)), (row, row));
    }

    #[test]
    fn both_forfeit_and_both_lose_where_the_league_says_so() {
        let scoring = Scoring { double_forfeit: DoubleForfeit::TechnicalLoss, ..Scoring::default() };
        let table = table(2, &scoring, &[(0, 1, BothForfeit)]);
        let row = StandingRecord { played: 1, losses: 1, technical_losses: 1, ..StandingRecord::default() };
        assert_eq!((table.row(0), table.row(1)), (row, row));
    }

    #[test]
    fn who_is_not_in_the_table_is_not_counted() {
        let mut table = Table::new(2, Scoring::default());
        for (a, b) in [(0, 2), (2, 0), (1, 1), (u32::MAX, 0)] {
            assert!(!table.record(Pairing::new(a, b), Win(A)), "{a} against {b}");
        }
        assert_eq!(
            (table.row(0), table.row(1), table.row(2)),
            (StandingRecord::default(), StandingRecord::default(), StandingRecord::default())
        );
        assert_eq!(order(&table), [0, 1]);
        assert!(Table::new(0, Scoring::default()).places().is_empty());
    }

    #[test]
    fn immense_points_do_not_wrap() {
        let scoring = Scoring { win_points: u32::MAX, ..Scoring::default() };
        let table = table(3, &scoring, &[(0, 1, Win(A)), (0, 2, Win(A)), (1, 2, Win(A))]);
        assert_eq!((table.row(0).points, table.row(1).points), (u32::MAX, u32::MAX));
        assert_eq!(order(&table), [0, 1, 2]);
    }
}

mod ties {
    use super::TieBreak::{Draws, HeadToHead, Wins};
    use super::*;

    #[test]
    fn players_without_matches_rank_by_index() {
        assert_eq!(ranking(4, &[Wins, HeadToHead, Draws], &[]), [0, 1, 2, 3]);
    }

    #[test]
    fn equal_players_share_a_rank_and_the_next_rank_counts_them() {
        assert_eq!(ranks(3, &[Wins, HeadToHead, Draws], &[]), [1, 1, 1]);
        let results = [(0, 1, Draw), (2, 3, Win(B))];
        assert_eq!(ranking(4, &[Wins], &results), [3, 0, 1, 2]);
        assert_eq!(ranks(4, &[Wins], &results), [1, 2, 2, 4]);
    }

    #[test]
    fn points_come_first_whatever_the_tie_breaks() {
        let results = [(0, 1, Draw), (2, 3, Win(B))];
        assert_eq!(ranking(4, &[], &results), [3, 0, 1, 2]);
        assert_eq!(ranking(4, &[Draws, Wins], &results), [3, 0, 1, 2]);
    }

    /// One win equals three draws in points, until the tie-break counts wins or draws.
    #[test]
    fn wins_and_draws_break_a_tie_in_opposite_ways() {
        let results = [(0, 2, Draw), (0, 3, Draw), (0, 4, Draw), (1, 2, Win(A)), (1, 3, Win(B)), (1, 4, Win(B))];
        let first_two = |tiebreakers: &[TieBreak]| {
            let order = ranking(5, tiebreakers, &results);
            order.into_iter().filter(|player| *player < 2).collect::<Vec<_>>()
        };
        assert_eq!(first_two(&[]), [0, 1]);
        assert_eq!(first_two(&[Wins]), [1, 0]);
        assert_eq!(first_two(&[Draws]), [0, 1]);
        assert_eq!(first_two(&[Wins, Draws]), [1, 0]);
        assert_eq!(first_two(&[Draws, Wins]), [0, 1]);
    }

    #[test]
    fn of_two_equals_the_one_who_won_their_match_is_ahead() {
        // 0 and 3 have a win each, and 3 won against 0.
        let results = [(0, 3, Win(B)), (0, 1, Win(A)), (1, 2, Draw)];
        assert_eq!(ranking(4, &[HeadToHead], &results), [3, 0, 1, 2]);
        assert_eq!(ranking(4, &[Wins, HeadToHead], &results), [3, 0, 1, 2]);
        assert_eq!(ranking(4, &[], &results), [0, 3, 1, 2]);
    }

    /// Each player beat the next one: head-to-head cannot separate them, so the index decides.
    #[test]
    fn a_circle_of_three_stays_a_tie() {
        let results = [(2, 1, Win(A)), (1, 0, Win(A)), (0, 2, Win(A))];
        assert_eq!(ranking(3, &[HeadToHead], &results), [0, 1, 2]);
        assert_eq!(ranking(3, &[HeadToHead, Wins, HeadToHead], &results), [0, 1, 2]);
    }

    /// 1, 2 and 3 end with six points. Against each other: 3 made six, 2 three, 1 none.
    #[test]
    fn three_equals_are_told_apart_by_their_own_matches() {
        let results = [
            (3, 2, Win(A)),
            (3, 1, Win(A)),
            (2, 1, Win(A)),
            (2, 0, Win(A)),
            (1, 0, Win(A)),
            (1, 4, Win(A)),
            (0, 3, Win(A)),
            (4, 3, Win(A)),
        ];
        assert_eq!(ranking(5, &[HeadToHead], &results), [3, 2, 1, 0, 4]);
        assert_eq!(ranking(5, &[], &results), [1, 2, 3, 0, 4]);
    }

    /// Players 0, 1 and 2 have four points each, player 2 by draws alone. Player 1 beat 2 and drew with 0, so it leads the three.
    /// This no longer counts once wins have separated player 2.
    #[test]
    fn the_head_to_head_is_among_those_who_are_still_equal() {
        let results =
            [(1, 2, Win(A)), (0, 1, Draw), (0, 3, Win(A)), (2, 3, Draw), (2, 4, Draw), (2, 5, Draw), (2, 6, Draw)];
        assert_eq!(ranking(7, &[HeadToHead], &results)[..3], [1, 0, 2]);
        assert_eq!(ranking(7, &[Wins, HeadToHead], &results)[..3], [0, 1, 2]);
    }

    /// Head-to-head separates one of four players. The next criterion, draws, then compares the other three.
    #[test]
    fn after_the_head_to_head_the_next_criterion_goes_on_within_the_parts() {
        // 0 to 3 have three points each. Against each other: 0 made three, 1, 2 and 3 none.
        let results = [
            (0, 1, Win(A)),
            (1, 4, Draw),
            (1, 5, Draw),
            (1, 6, Draw),
            (2, 5, Win(A)),
            (3, 4, Draw),
            (3, 5, Draw),
            (3, 6, Draw),
            (4, 6, Win(A)),
        ];
        assert_eq!(ranking(7, &[HeadToHead, Draws], &results), [4, 0, 1, 3, 2, 5, 6]);
        assert_eq!(ranking(7, &[HeadToHead, Wins], &results), [4, 0, 2, 1, 3, 5, 6]);
        assert_eq!(ranking(7, &[HeadToHead], &results), [4, 0, 1, 2, 3, 5, 6]);
    }

    #[test]
    fn a_match_that_was_forfeited_counts_between_the_two() {
        let results = [(1, 0, Forfeit(B)), (0, 2, Win(A))];
        assert_eq!(ranking(3, &[HeadToHead], &results), [1, 0, 2]);
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
            TieBreak::Wins => row.wins,
            TieBreak::Draws => row.draws,
            TieBreak::HeadToHead => {
                let among = |(a, b, _): &&(u32, u32, Outcome)| equals.contains(a) && equals.contains(b);
                self::row(player, scoring, &results.iter().filter(among).copied().collect::<Vec<_>>()).points
            }
        }
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
    let tiebreak = prop_oneof![Just(TieBreak::Wins), Just(TieBreak::HeadToHead), Just(TieBreak::Draws)];
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

fn seasons() -> impl Strategy<Value = (u32, Results)> {
    (2..12_u32).prop_flat_map(|players| {
        let matches = round_robin(players);
        prop::collection::vec(outcomes(), 0..=matches.len()).prop_map(move |outcomes| {
            (players, matches.iter().zip(outcomes).map(|(pairing, outcome)| (pairing.a, pairing.b, outcome)).collect())
        })
    })
}

fn shuffled_seasons() -> impl Strategy<Value = (u32, Results, Results)> {
    seasons().prop_flat_map(|(players, results)| (Just(players), Just(results.clone()), Just(results).prop_shuffle()))
}

fn rows(players: u32, table: &Table) -> Vec<StandingRecord> {
    (0..players).map(|player| table.row(player)).collect()
}

proptest! {
    #[test]
    fn the_order_of_recording_does_not_matter((players, results, shuffled) in shuffled_seasons(), scoring in scorings()) {
        let (one, other) = (table(players, &scoring, &results), table(players, &scoring, &shuffled));
        prop_assert_eq!(rows(players, &one), rows(players, &other));
        prop_assert_eq!(one.places(), other.places());
    }

    #[test]
    fn a_table_that_grew_equals_one_worked_out_afresh((players, results) in seasons(), scoring in scorings()) {
        let mut grown = Table::new(players, scoring.clone());
        for (count, (a, b, outcome)) in (1..).zip(&results) {
            grown.record(Pairing::new(*a, *b), *outcome);
            let so_far = &results[..count];
            let expected: Vec<StandingRecord> = (0..players).map(|player| plain::row(player, &scoring, so_far)).collect();
            prop_assert_eq!(rows(players, &grown), expected);
            prop_assert_eq!(grown.places(), plain::places(players, &scoring, so_far));
        }
    }

    #[test]
    fn the_ranking_has_everyone_once_and_never_puts_fewer_points_first((players, results) in seasons(), scoring in scorings()) {
        let table = table(players, &scoring, &results);
        let order = order(&table);
        prop_assert!(order.is_sorted_by(|one, other| table.row(*one).points >= table.row(*other).points));
        let mut everyone = order;
        everyone.sort_unstable();
        prop_assert_eq!(everyone, (0..players).collect::<Vec<_>>());
    }
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
