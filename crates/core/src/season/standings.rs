//! The standings: rows and their order.
//!
//! The order of a [`Table`] depends on the results and not on their order. Rows are sums, and the ranking uses only these sums and
//! the points that players made against each other.

mod ranking;
mod scoring;

use league_protocol::message::game_over::OwnResult;
use league_protocol::side::{Pair, Side};
use serde::{Deserialize, Serialize};

use super::format::Pairing;
use crate::rules::outcome::Outcome;

pub use scoring::{DoubleForfeit, Scoring, TieBreak};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct StandingRecord {
    pub played: u32,
    /// Includes matches that the opponent forfeited.
    pub wins: u32,
    pub draws: u32,
    pub losses: u32,
    pub points: u32,
    /// Includes double forfeits.
    pub technical_losses: u32,
    /// Byes that gave the points of a win.
    pub byes: u32,
    /// The sum of the scores, in a game that is ranked by them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    pub player: u32,
    /// 1 for the best. Equal players share a rank, and the following ranks are skipped: 1, 2, 2, 4.
    pub rank: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    scoring: Scoring,
    rows: Vec<StandingRecord>,
    /// The matches of each player, in the order of their results. Tie-breaks read those of tied players only.
    meetings: Vec<Vec<Meeting>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Meeting {
    opponent: u32,
    points: u32,
}

impl Table {
    pub fn new(players: u32, scoring: Scoring) -> Self {
        let players = players as usize;
        Self { scoring, rows: vec![StandingRecord::default(); players], meetings: vec![Vec::new(); players] }
    }

    pub fn add_player(&mut self) {
        self.rows.push(StandingRecord::default());
        self.meetings.push(Vec::new());
    }

    /// A bye that counts gives the points of a win. It is no match.
    pub fn record_bye(&mut self, player: u32) {
        if let Some(row) = self.rows.get_mut(player as usize) {
            row.points = row.points.saturating_add(self.scoring.win_points);
            row.byes += 1;
        }
    }

    /// Returns false and changes nothing if these are not two players of this table.
    pub fn record(&mut self, players: Pairing, outcome: Outcome) -> bool {
        let known = |player: u32| (player as usize) < self.rows.len();
        if players.a == players.b || !known(players.a) || !known(players.b) {
            return false;
        }
        let points = outcome.points(&self.scoring.match_points());
        for side in Side::BOTH {
            let (player, opponent, points) = (players[side] as usize, players[side.other()], points[side]);
            let row = &mut self.rows[player];
            row.played += 1;
            match outcome.own_result(side, self.scoring.double_forfeit) {
                OwnResult::Win => row.wins += 1,
                OwnResult::Draw => row.draws += 1,
                OwnResult::Loss | OwnResult::TechnicalLoss => row.losses += 1,
            }
            row.technical_losses += u32::from(outcome.forfeited(side));
            // The points of a win are configuration and may be any number.
            row.points = row.points.saturating_add(points);
            self.meetings[player].push(Meeting { opponent, points });
        }
        true
    }

    /// Counts the score of a match that was recorded. From the first one on, the mean score decides the order before the points.
    pub fn add_score(&mut self, players: Pairing, score: Pair<i32>) {
        for side in Side::BOTH {
            if let Some(row) = self.rows.get_mut(players[side] as usize) {
                let sum = row.score.unwrap_or_default();
                row.score = Some(sum.saturating_add(i64::from(score[side])));
            }
        }
    }

    /// Empty for an unknown player.
    pub fn row(&self, player: u32) -> StandingRecord {
        self.rows.get(player as usize).copied().unwrap_or_default()
    }

    pub fn scoring(&self) -> &Scoring {
        &self.scoring
    }

    /// Best first: by points, then by the configured tie-breaks. Equal players share a rank and are listed by index.
    pub fn places(&self) -> Vec<Standing> {
        ranking::places(self)
    }

    /// The players that have won the most stages first. Players that left in the same stage share a rank.
    pub fn places_by_stages(&self, won: &[u32]) -> Vec<Standing> {
        ranking::places_by_stages(self, won)
    }
}
