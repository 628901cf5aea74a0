//! The order of the table: groups of equals, split by one criterion after the other.
//!
//! Head-to-head depends on who is equal, so a plain comparison of two players would not do: A may have beaten B, B beaten C
//! and C beaten A. Each criterion is therefore worked out once for a whole group; those whom it cannot tell apart form a
//! smaller group for the next one. Only the meetings of tied players are looked at.

use std::cmp::Reverse;

use super::{Standing, Table, TieBreak};

/// What a group is split by.
#[derive(Clone, Copy)]
enum Criterion {
    Points,
    TieBreak(TieBreak),
}

pub(super) fn places(table: &Table) -> Vec<Standing> {
    let criteria: Vec<Criterion> = std::iter::once(Criterion::Points)
        .chain(table.scoring.tiebreakers.iter().copied().map(Criterion::TieBreak))
        .collect();
    let mut ranker = Ranker { table, places: Vec::with_capacity(table.rows.len()) };
    // As many rows as a u32 can count, by the only constructor.
    ranker.split((0..).take(table.rows.len()).collect(), &criteria);
    ranker.places
}

struct Ranker<'a> {
    table: &'a Table,
    places: Vec<Standing>,
}

impl Ranker<'_> {
    /// Places `group`, given in the order of its indices, by `criteria`. Players that no criterion separates share a rank.
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
            Criterion::Points => self.by_row(group, |row| row.points),
            Criterion::TieBreak(TieBreak::Wins) => self.by_row(group, |row| row.wins),
            Criterion::TieBreak(TieBreak::Draws) => self.by_row(group, |row| row.draws),
            Criterion::TieBreak(TieBreak::HeadToHead) => self.head_to_head(group),
        }
    }

    fn by_row(&self, group: &[u32], score: impl Fn(&super::StandingRecord) -> u32) -> Vec<(u32, u64)> {
        group.iter().map(|player| (*player, score(&self.table.rows[*player as usize]).into())).collect()
    }

    /// The points that each of `group` made against the rest of it.
    fn head_to_head(&self, group: &[u32]) -> Vec<(u32, u64)> {
        let against = |player: u32, opponent: &u32| u64::from(self.table.points_against(player, *opponent));
        group.iter().map(|player| (*player, group.iter().map(|opponent| against(*player, opponent)).sum())).collect()
    }
}
