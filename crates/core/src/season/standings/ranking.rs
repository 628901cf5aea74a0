//! The order of the table: each criterion splits groups of equal players.
//!
//! Head-to-head depends on the group, so comparing two players does not work: A may have beaten B, B beaten C and C beaten A.
//! Each criterion is computed once per group; players it cannot separate form a smaller group for the next. Only matches of tied
//! players are read.

use std::cmp::Reverse;

use super::{Standing, Table, TieBreak};

#[derive(Clone, Copy)]
enum Criterion {
    /// Only in games that are ranked by scores.
    MeanScore,
    Points,
    TieBreak(TieBreak),
}

pub(super) fn places(table: &Table) -> Vec<Standing> {
    let is_scored = table.rows.iter().any(|row| row.score.is_some());
    let criteria: Vec<Criterion> = is_scored
        .then_some(Criterion::MeanScore)
        .into_iter()
        .chain(std::iter::once(Criterion::Points))
        .chain(table.scoring.tiebreakers.iter().copied().map(Criterion::TieBreak))
        .collect();
    let mut ranker = Ranker { table, places: Vec::with_capacity(table.rows.len()) };
    // The only constructor limits the number of rows to a u32.
    ranker.split((0..).take(table.rows.len()).collect(), &criteria);
    ranker.places
}

/// The mean score of a match in millionths, raised so that a negative one is a number as well.
fn mean_score(row: &super::StandingRecord) -> u64 {
    let sum = i128::from(row.score.unwrap_or_default()) * 1_000_000;
    let mean = sum.div_euclid(i128::from(row.played.max(1)));
    u64::try_from(mean + (1 << 62)).unwrap_or_default()
}

struct Ranker<'a> {
    table: &'a Table,
    places: Vec<Standing>,
}

impl Ranker<'_> {
    /// `group` is in the order of indices. Players that no criterion separates share a rank.
    fn split(&mut self, group: Vec<u32>, criteria: &[Criterion]) {
        let (Some((criterion, rest)), 2..) = (criteria.split_first(), group.len()) else {
            let rank = u32::try_from(self.places.len() + 1).unwrap_or(u32::MAX);
            self.places.extend(group.into_iter().map(|player| Standing { player, rank }));
            return;
        };
        let mut scored = self.scored(&group, *criterion);
        // The sort is stable: players with equal scores stay in the order of their indices.
        scored.sort_by_key(|(_, score)| Reverse(*score));
        for equals in scored.chunk_by(|(_, one), (_, other)| one == other) {
            self.split(equals.iter().map(|(player, _)| *player).collect(), rest);
        }
    }

    fn scored(&self, group: &[u32], criterion: Criterion) -> Vec<(u32, u64)> {
        match criterion {
            Criterion::MeanScore => {
                group.iter().map(|player| (*player, mean_score(&self.table.rows[*player as usize]))).collect()
            }
            Criterion::Points => self.by_row(group, |row| row.points),
            Criterion::TieBreak(TieBreak::Wins) => self.by_row(group, |row| row.wins),
            Criterion::TieBreak(TieBreak::Draws) => self.by_row(group, |row| row.draws),
            Criterion::TieBreak(TieBreak::HeadToHead) => self.head_to_head(group),
        }
    }

    fn by_row(&self, group: &[u32], score: impl Fn(&super::StandingRecord) -> u32) -> Vec<(u32, u64)> {
        group.iter().map(|player| (*player, score(&self.table.rows[*player as usize]).into())).collect()
    }

    fn head_to_head(&self, group: &[u32]) -> Vec<(u32, u64)> {
        let against = |player: u32, opponent: &u32| u64::from(self.table.points_against(player, *opponent));
        group.iter().map(|player| (*player, group.iter().map(|opponent| against(*player, opponent)).sum())).collect()
    }
}
