use std::fmt;

use league_protocol::draw::{DrawNonce, DrawSeal};
use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use super::refusal::PostRefusal;
use crate::rules::game::DrawnNumber;
use crate::rules::outcome::Outcome;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ending {
    pub outcome: Outcome,
    /// The last move received from each side, including moves that a forfeit made irrelevant.
    pub moves: Pair<Option<SmolStr>>,
    /// All moves in order, in a game of several turns; empty otherwise, because `moves` holds them all.
    pub course: Vec<(Side, SmolStr)>,
    /// The number of the last game, if it has one.
    pub drawn: Option<DrawnNumber>,
    /// Of the games, where the verdict of the match is a score.
    pub score: Option<Pair<i32>>,
    /// What proves the chance of the match; `None` if it needed none.
    pub sealed: Option<SealedChance>,
    pub faults: Pair<Option<ForfeitReason>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SealedChance {
    pub seal: DrawSeal,
    /// A nonce is empty if the side sent none.
    pub nonces: Pair<DrawNonce>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ForfeitReason {
    Declined,
    TimedOut,
    /// Includes a connection that broke during the answer.
    Unreachable,
    IllegalMoves,
    Unreadable,
    /// Only posted answers arrived, and none of them counts.
    Refused(PostRefusal),
}

/// Writes a predicate that follows the player's name in a sentence.
impl fmt::Display for ForfeitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused(refusal) => return refusal.fmt(f),
            Self::Declined => "declined to play",
            Self::TimedOut => "did not answer in time",
            Self::Unreachable => "could not be reached or hung up",
            Self::IllegalMoves => "made no legal move",
            Self::Unreadable => "gave no readable answer",
        })
    }
}

impl Ending {
    pub(super) fn played_without_draw(&self) -> bool {
        self.faults == Pair::default() && self.drawn.is_none()
    }

    /// Explains a forfeit in a sentence; `None` when the game was played out.
    pub fn forfeit_reason(&self, names: Pair<&str>) -> Option<String> {
        let told = |side: Side| self.faults[side].map(|fault| format!("{} {fault}", names[side]));
        match (told(Side::A), told(Side::B)) {
            (None, None) => None,
            (Some(a), None) => Some(format!("{a}. {} wins by technical loss.", names.b)),
            (None, Some(b)) => Some(format!("{b}. {} wins by technical loss.", names.a)),
            (Some(a), Some(b)) => Some(format!("{a}, and {b}. Both forfeit.")),
        }
    }
}
