//! What a player is doing, in one word.
//!
//! The word is never stored. It follows from where the player stands in its league and, while it plays, from its newest
//! open match: so nothing that comes late or twice can leave a word behind that is no longer true.

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SessionState {
    Unregistered,
    /// It has asked to be let in.
    Registering,
    Registered,
    /// It knows of a match to come.
    WaitingForRound,
    WaitingForChoiceRequest,
    ChoosingParity,
    WaitingForResult,
    /// It knows how its match ended.
    MatchComplete,
    /// It knows how the league ended.
    LeagueComplete,
}

/// What a player is doing, in the words of its life as a process (S2 7).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PlayerLifecycle {
    Init,
    Registered,
    Active,
    /// The league is over for it, and it ends.
    Shutdown,
}

impl PlayerLifecycle {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Init => "INIT",
            Self::Registered => "REGISTERED",
            Self::Active => "ACTIVE",
            Self::Shutdown => "SHUTDOWN",
        }
    }
}

/// Where a player stands in its league, between its matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Membership {
    Unregistered,
    Registering,
    Registered,
    WaitingForRound,
    MatchComplete,
    LeagueComplete,
}

/// How far a match has come, as its player sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MatchStage {
    /// The player has joined, or would have, had it been invited.
    Joined,
    Choosing,
    Chosen,
    /// The result is known, or the league has gone on without it.
    Over,
}

impl Membership {
    pub(super) fn plays(self) -> bool {
        match self {
            Self::Registered | Self::WaitingForRound | Self::MatchComplete => true,
            Self::Unregistered | Self::Registering | Self::LeagueComplete => false,
        }
    }
}

impl From<Membership> for SessionState {
    fn from(membership: Membership) -> Self {
        match membership {
            Membership::Unregistered => Self::Unregistered,
            Membership::Registering => Self::Registering,
            Membership::Registered => Self::Registered,
            Membership::WaitingForRound => Self::WaitingForRound,
            Membership::MatchComplete => Self::MatchComplete,
            Membership::LeagueComplete => Self::LeagueComplete,
        }
    }
}

impl From<MatchStage> for SessionState {
    fn from(stage: MatchStage) -> Self {
        match stage {
            MatchStage::Joined => Self::WaitingForChoiceRequest,
            MatchStage::Choosing => Self::ChoosingParity,
            MatchStage::Chosen => Self::WaitingForResult,
            MatchStage::Over => Self::MatchComplete,
        }
    }
}

impl SessionState {
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
