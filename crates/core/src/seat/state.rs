//! What a player is doing, in one word.

/// What a player is doing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum State {
    /// Nobody knows it yet.
    Unregistered,
    /// It has asked to be let in.
    Registering,
    /// It is in.
    Registered,
    /// It knows of a match to come.
    WaitingForRound,
    /// It has joined a match.
    WaitingForChoiceRequest,
    /// Its strategy is thinking.
    ChoosingParity,
    /// It has chosen.
    WaitingForResult,
    /// It knows how its match ended.
    MatchComplete,
    /// It knows how the league ended.
    LeagueComplete,
}

impl State {
    /// As the protocol writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unregistered => "UNREGISTERED",
            Self::Registering => "REGISTERING",
            Self::Registered => "REGISTERED",
            Self::WaitingForRound => "WAITING_FOR_ROUND",
            Self::WaitingForChoiceRequest => "WAITING_FOR_CHOICE_REQUEST",
            Self::ChoosingParity => "CHOOSING_PARITY",
            Self::WaitingForResult => "WAITING_FOR_RESULT",
            Self::MatchComplete => "MATCH_COMPLETE",
            Self::LeagueComplete => "LEAGUE_COMPLETE",
        }
    }
}
