//! How a match ended, with everything that a result says about it.

use std::fmt;

use league_protocol::draw::{DrawNonce, DrawSeal};
use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use super::refusal::PostRefusal;
use crate::rules::game::DrawnNumber;
use crate::rules::outcome::Outcome;

/// How a match ended. Made once, and never changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ending {
    pub outcome: Outcome,
    /// The last move that was received from each side; also those that a forfeit made pointless.
    pub moves: Pair<Option<SmolStr>>,
    /// All moves in order, in a game of more than one turn; else `moves` has them all.
    pub course: Vec<(Side, SmolStr)>,
    /// The number, when one was drawn.
    pub drawn: Option<Drawn>,
    pub faults: Pair<Option<ForfeitReason>>,
}

/// A number, with what the sides gave to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drawn {
    pub number: DrawnNumber,
    /// The bytes that it was taken from.
    pub seal: DrawSeal,
    /// What the sides added; empty where one added nothing.
    pub nonces: Pair<DrawNonce>,
}

/// Why a side forfeits: that it declined, or what was wrong with the last of its tries.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ForfeitReason {
    /// It did not want to play.
    Declined,
    /// It did not answer in time.
    TimedOut,
    /// It could not be reached, or hung up while answering.
    Unreachable,
    IllegalMoves,
    Unreadable,
    /// Nothing came in its name but posted answers that do not count.
    Refused(PostRefusal),
}

/// What the side did, as the rest of a sentence that begins with its name.
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
    /// Whether the game was played out and needed no number.
    pub(super) fn played_without_draw(&self) -> bool {
        self.faults == Pair::default() && self.drawn.is_none()
    }

    /// In a sentence, why a match ended without a game, with the players called by `names`; nothing when it was played out.
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
