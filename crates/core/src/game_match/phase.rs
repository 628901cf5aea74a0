use std::fmt;

/// A referee without a match is IDLE; a match never is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MatchPhase {
    WaitingForPlayers,
    CollectingChoices,
    DrawingNumber,
    /// The ending is known, but the referee may still have to tell and report it.
    Finished,
}

impl MatchPhase {
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
