//! What has happened. A season is the fold of these, and nothing else.

use league_protocol::id::{MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::report::{Account, LearnedDialect};
use league_protocol::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::agent::{AgentId, AgentProfile, StoredCredential};
use super::config::LeagueConfig;
use crate::record::MatchRecord;
use crate::rules::outcome::Outcome;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// When, in whole seconds: exactly what a log keeps, so that a replay sees what the living season saw.
    pub at: Timestamp,
    pub fact: Fact,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// The league was opened; always the first.
    Opened {
        config: Box<LeagueConfig>,
    },
    PlayerRegistered {
        player: PlayerId,
        profile: AgentProfile,
        grant: StoredCredential,
    },
    RefereeRegistered {
        referee: RefereeId,
        profile: AgentProfile,
        /// How many matches it runs at a time.
        capacity: u32,
        grant: StoredCredential,
    },
    /// A player registered again and got a fresh token.
    PlayerReturned {
        player: PlayerId,
        /// What it says of itself now.
        profile: AgentProfile,
        /// What recognises it from now on.
        grant: StoredCredential,
    },
    /// A referee registered again and got a fresh token. It has lost what it was running.
    RefereeReturned {
        referee: RefereeId,
        /// What it says of itself now.
        profile: AgentProfile,
        /// How many matches it runs at a time from now on.
        capacity: u32,
        /// What recognises it from now on.
        grant: StoredCredential,
    },
    /// Nobody else is let in, and everybody is paired with everybody.
    RegistrationClosed,
    /// The operator opened the registration again: there is no schedule any more, and nothing of it was played.
    RegistrationReopened,
    /// The operator took a player out. Before the first round it is simply gone; after that it stays in the table, and every match
    /// that no referee has in hand is lost to it.
    PlayerWithdrawn {
        player: PlayerId,
    },
    RoundStarted {
        round: RoundId,
    },
    /// A match was given to a referee.
    MatchAssigned {
        match_id: MatchId,
        attempt: u32,
        referee: RefereeId,
    },
    /// A referee did not take a match that was given to it.
    MatchReturned {
        match_id: MatchId,
        attempt: u32,
    },
    /// A referee was given up; whatever it was running must be played again.
    RefereeLost {
        referee: RefereeId,
    },
    /// How a match came to the result that is reported next. Only where the result does not tell it all, and the manager's home does
    /// not have it from the referee itself.
    MatchExplained {
        match_id: MatchId,
        attempt: u32,
        account: Box<Account>,
    },
    MatchReported {
        match_id: MatchId,
        attempt: u32,
        record: MatchRecord,
    },
    /// A match that no referee has was decided without being played: a player of it has been withdrawn.
    MatchAwarded {
        match_id: MatchId,
        outcome: Outcome,
    },
    /// Every match of a round has its result.
    RoundCompleted {
        round: RoundId,
    },
    LeagueCompleted,
    /// Something was found out about the ways of an agent.
    AgentLearned {
        agent: AgentId,
        /// How it is spoken to from now on, and what it does differently that was not known.
        learned: LearnedDialect,
    },
    /// The operator stopped the league: nothing new begins.
    Halted,
    /// The operator let it go on.
    Resumed,
}

impl Fact {
    /// The name of this kind of event, as the log writes it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Opened { .. } => "opened",
            Self::PlayerRegistered { .. } => "player_registered",
            Self::RefereeRegistered { .. } => "referee_registered",
            Self::PlayerReturned { .. } => "player_returned",
            Self::RefereeReturned { .. } => "referee_returned",
            Self::RegistrationClosed => "registration_closed",
            Self::RegistrationReopened => "registration_reopened",
            Self::PlayerWithdrawn { .. } => "player_withdrawn",
            Self::RoundStarted { .. } => "round_started",
            Self::MatchAssigned { .. } => "match_assigned",
            Self::MatchReturned { .. } => "match_returned",
            Self::RefereeLost { .. } => "referee_lost",
            Self::MatchExplained { .. } => "match_explained",
            Self::MatchReported { .. } => "match_reported",
            Self::MatchAwarded { .. } => "match_awarded",
            Self::RoundCompleted { .. } => "round_completed",
            Self::LeagueCompleted => "league_completed",
            Self::AgentLearned { .. } => "agent_learned",
            Self::Halted => "halted",
            Self::Resumed => "resumed",
        }
    }

    /// The match that has its result with this, and how it ended.
    pub fn ending(&self) -> Option<(&MatchId, Outcome)> {
        match self {
            Self::MatchReported { match_id, record, .. } => Some((match_id, record.outcome)),
            Self::MatchAwarded { match_id, outcome } => Some((match_id, *outcome)),
            Self::Opened { .. }
            | Self::PlayerRegistered { .. }
            | Self::RefereeRegistered { .. }
            | Self::PlayerReturned { .. }
            | Self::RefereeReturned { .. }
            | Self::RegistrationClosed
            | Self::RegistrationReopened
            | Self::PlayerWithdrawn { .. }
            | Self::RoundStarted { .. }
            | Self::MatchAssigned { .. }
            | Self::MatchReturned { .. }
            | Self::RefereeLost { .. }
            | Self::MatchExplained { .. }
            | Self::RoundCompleted { .. }
            | Self::LeagueCompleted
            | Self::AgentLearned { .. }
            | Self::Halted
            | Self::Resumed => None,
        }
    }
}
