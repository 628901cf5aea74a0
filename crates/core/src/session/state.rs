//! The state of a player, as the interfaces name it.
//!
//! The state is never stored. It is derived from the membership and the newest open match, so late or repeated messages cannot
//! leave a stale state.

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SessionState {
    Unregistered,
    Registering,
    Registered,
    WaitingForRound,
    WaitingForChoiceRequest,
    ChoosingParity,
    WaitingForResult,
    MatchComplete,
    LeagueComplete,
}

/// The states of the process, as the course document names them (S2 7).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PlayerLifecycle {
    Init,
    Registered,
    Active,
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Membership {
    Unregistered,
    Registering,
    Registered,
    WaitingForRound,
    MatchComplete,
    LeagueComplete,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MatchStage {
    /// Also set by a request without an invitation.
    Joined,
    Choosing,
    Chosen,
    /// The result is known, or the league continued without it.
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
