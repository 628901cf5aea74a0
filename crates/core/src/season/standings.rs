//! Where everybody stands: what each result adds to the table, and the order that follows.
//!
//! A [`Table`] depends on the results that were recorded and not on the order in which they came: rows are sums, and the
//! ranking looks at nothing else but who made how many points against whom.

mod ranking;
mod scoring;

use league_protocol::side::{Pair, Side};
use serde::{Deserialize, Serialize};

use crate::rules::outcome::Outcome;

pub use scoring::{DoubleForfeit, Scoring, TieBreak};

/// What a player has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct StandingRecord {
    /// Matches that count, whatever their end.
    pub played: u32,
    /// Matches won, also those that the opponent forfeited.
    pub wins: u32,
    pub draws: u32,
    pub losses: u32,
    pub points: u32,
    /// Matches forfeited, alone or together with the opponent.
    pub technical_losses: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    pub player: u32,
    /// 1 for the best. Equal players share a rank, and the ranks after it are left out: 1, 2, 2, 4.
    pub rank: u32,
}

/// What a match was to one of its players.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MatchMark {
    Win,
    Draw,
    Loss,
    /// A loss without a game, where that is not a draw.
    Forfeit,
}

/// The standings of the players 0 to n - 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    scoring: Scoring,
    rows: Vec<StandingRecord>,
    /// Row by row, what each player's match against each other one was to it: a byte, so that a tie costs a look and not a
    /// search, and a thousand players a megabyte.
    crosstable: Vec<Option<MatchMark>>,
}

impl Table {
    /// The table before the first match of `players` players.
    pub fn new(players: u32, scoring: Scoring) -> Self {
        let players = players as usize;
        Self { scoring, rows: vec![StandingRecord::default(); players], crosstable: vec![None; players * players] }
    }

    /// Counts a match of `a` against `b`. False, and nothing changed, when these are not two players of this table, or when
    /// they have met before: a result counts once.
    pub fn record(&mut self, a: u32, b: u32, outcome: Outcome) -> bool {
        let known = |player: u32| (player as usize) < self.rows.len();
        if a == b || !known(a) || !known(b) || self.mark(a, b).is_some() {
            return false;
        }
        let players = Pair::new(a, b);
        for side in Side::BOTH {
            let (player, opponent) = (players[side] as usize, players[side.other()] as usize);
            let mark = self.scoring.mark(outcome, side);
            let row = &mut self.rows[player];
            row.played += 1;
            match mark {
                MatchMark::Win => row.wins += 1,
                MatchMark::Draw => row.draws += 1,
                MatchMark::Loss | MatchMark::Forfeit => row.losses += 1,
            }
            row.technical_losses += u32::from(outcome.forfeited(side));
            // The points of a win are configuration, and may be anything.
            row.points = row.points.saturating_add(self.scoring.worth(mark));
            self.crosstable[player * self.rows.len() + opponent] = Some(mark);
        }
        true
    }

    /// What the match of `player` against `opponent` was to it, once they have met.
    fn mark(&self, player: u32, opponent: u32) -> Option<MatchMark> {
        self.crosstable[player as usize * self.rows.len() + opponent as usize]
    }

    /// What `player` has done so far; nothing when there is no such player.
    pub fn row(&self, player: u32) -> StandingRecord {
        self.rows.get(player as usize).copied().unwrap_or_default()
    }

    pub fn scoring(&self) -> &Scoring {
        &self.scoring
    }

    /// All players, the best first: by points, then by the configured tie-breaks. Players that are still equal share a rank and are
    /// listed by index.
    pub fn places(&self) -> Vec<Standing> {
        ranking::places(self)
    }
}
