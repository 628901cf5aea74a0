//! The order of the table: each criterion splits groups of equal players.
//!
//! Head-to-head depends on the group, so comparing two players does not work: A may have beaten B, B beaten C and C beaten A.
//! Each criterion is computed once per group; players it cannot separate form a smaller group for the next. Only matches of tied
//! players are read. Players that no criterion separates share a place.

use std::cmp::Reverse;

use super::{Standing, Table, TieBreak};

#[derive(Clone, Copy)]
enum Criterion<'a> {
    StagesWon(&'a [u32]),
    /// Only in games that are ranked by scores.
    MeanScore,
    Points,
    TieBreak(TieBreak),
}

pub(super) fn places(table: &Table) -> Vec<Standing> {
    let is_scored = table.rows.iter().any(|row| row.score.is_some());
    let first = is_scored.then_some(Criterion::MeanScore).into_iter().chain(std::iter::once(Criterion::Points));
    let tiebreakers = table.scoring.tiebreakers.iter().copied().map(Criterion::TieBreak);
    ranked(table, &first.chain(tiebreakers).collect::<Vec<_>>())
}

pub(super) fn places_by_stages(table: &Table, won: &[u32]) -> Vec<Standing> {
    ranked(table, &[Criterion::StagesWon(won)])
}

fn ranked(table: &Table, criteria: &[Criterion<'_>]) -> Vec<Standing> {
    let places = Vec::with_capacity(table.rows.len());
    let mut ranker = Ranker { table, places, group_of: vec![0; table.rows.len()], groups: 0 };
    // The only constructor limits the number of rows to a u32.
    ranker.split((0..).take(table.rows.len()).collect(), criteria);
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
    /// Marks the members of the group whose head-to-head points are computed.
    group_of: Vec<u32>,
    groups: u32,
}

impl Ranker<'_> {
    /// `group` is in the order of indices. Players that no criterion separates share a rank.
    fn split(&mut self, group: Vec<u32>, criteria: &[Criterion<'_>]) {
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

    fn scored(&mut self, group: &[u32], criterion: Criterion<'_>) -> Vec<(u32, u64)> {
        match criterion {
            Criterion::StagesWon(won) => {
                group.iter().map(|player| (*player, won.get(*player as usize).copied().unwrap_or(0).into())).collect()
            }
            Criterion::MeanScore => {
                group.iter().map(|player| (*player, mean_score(&self.table.rows[*player as usize]))).collect()
            }
            Criterion::Points => self.by_row(group, |row| row.points),
            Criterion::TieBreak(TieBreak::Wins) => self.by_row(group, |row| row.wins),
            Criterion::TieBreak(TieBreak::Draws) => self.by_row(group, |row| row.draws),
            Criterion::TieBreak(TieBreak::HeadToHead) => self.head_to_head(group),
            Criterion::TieBreak(TieBreak::Buchholz) => self.by_opponents(group, |_, opponent| opponent),
            Criterion::TieBreak(TieBreak::SonnebornBerger) => self.by_opponents(group, |own, opponent| own * opponent),
        }
    }

    fn by_row(&self, group: &[u32], score: impl Fn(&super::StandingRecord) -> u32) -> Vec<(u32, u64)> {
        group.iter().map(|player| (*player, score(&self.table.rows[*player as usize]).into())).collect()
    }

    fn head_to_head(&mut self, group: &[u32]) -> Vec<(u32, u64)> {
        self.groups += 1;
        for player in group {
            self.group_of[*player as usize] = self.groups;
        }
        let is_member = |opponent: u32| self.group_of[opponent as usize] == self.groups;
        let points = |player: u32| {
            let among = self.table.meetings[player as usize].iter().filter(|meeting| is_member(meeting.opponent));
            among.map(|meeting| u64::from(meeting.points)).sum()
        };
        group.iter().map(|player| (*player, points(*player))).collect()
    }

    /// Sums `score` over the opponents, from the points made against one and the points that it has.
    fn by_opponents(&self, group: &[u32], score: impl Fn(u64, u64) -> u64) -> Vec<(u32, u64)> {
        let row = |player: u32| &self.table.rows[player as usize];
        let win = u64::from(self.table.scoring.win_points);
        let sum = |player: u32| {
            let meetings = self.table.meetings[player as usize].iter();
            let met = meetings.map(|meeting| score(meeting.points.into(), row(meeting.opponent).points.into()));
            let own = row(player);
            let byes = score(win, own.points.into()).saturating_mul(own.byes.into());
            met.fold(byes, u64::saturating_add)
        };
        group.iter().map(|player| (*player, sum(*player))).collect()
    }
}
