//! Where a match stands, in the protocol's words.

use std::fmt;

/// Where a match stands. A referee without a match is IDLE; a match never is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MatchPhase {
    /// The invitations are out, or are about to be.
    WaitingForPlayers,
    /// Both have joined, and moves are to be made.
    CollectingChoices,
    /// The moves are made, and a number is to be drawn.
    DrawingNumber,
    /// The ending is known; it may not be told and reported yet.
    Finished,
}

impl MatchPhase {
    /// The phase as messages have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WaitingForPlayers => "WAITING_FOR_PLAYERS",
            Self::CollectingChoices => "COLLECTING_CHOICES",
            Self::DrawingNumber => "DRAWING_NUMBER",
            Self::Finished => "FINISHED",
        }
    }
}

impl fmt::Display for MatchPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
