//! How a match ended, once and for all: what a bout decides, a report says and a season counts.

use league_protocol::side::Side;
use serde::{Deserialize, Serialize};

use super::game::Verdict;

/// The end of a match.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// This side won by the rules of the game.
    Win(Side),
    /// Nobody won, by the rules of the game.
    Draw,
    /// This side lost without a game: it declined, kept silent, could not be reached or made no legal move.
    Forfeit(Side),
    /// Both sides did.
    DoubleForfeit,
}

impl Outcome {
    /// The winner, if there is one.
    pub fn winner(self) -> Option<Side> {
        match self {
            Self::Win(side) => Some(side),
            Self::Forfeit(loser) => Some(loser.other()),
            Self::Draw | Self::DoubleForfeit => None,
        }
    }

    /// Whether `side` lost without a game.
    pub fn forfeited(self, side: Side) -> bool {
        match self {
            Self::Forfeit(loser) => loser == side,
            Self::DoubleForfeit => true,
            Self::Win(_) | Self::Draw => false,
        }
    }
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Win(side) => Self::Win(side),
            Verdict::Draw => Self::Draw,
        }
    }
}
