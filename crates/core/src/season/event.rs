use league_protocol::draw::{DrawCommitment, DrawSeal, DrawSecret};
use league_protocol::id::{MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::operate::DisputeDecision;
use league_protocol::message::report::{Account, LearnedDialect};
use league_protocol::time::Timestamp;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::agent::{AgentId, AgentProfile, StoredCredential};
use super::config::LeagueConfig;
use super::evidence::{AlertKind, AssignedDraw, ContestedReport, ReturnCause};
use crate::record::MatchRecord;
use crate::rules::outcome::Outcome;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// Whole seconds, as the log stores them, so that a replay equals the running season.
    pub at: Timestamp,
    pub fact: Fact,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// Always the first event.
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
        /// The most matches it runs at a time.
        capacity: u32,
        grant: StoredCredential,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commitments: Vec<DrawCommitment>,
    },
    /// A player registered again and got a new token.
    PlayerReturned {
        player: PlayerId,
        profile: AgentProfile,
        grant: StoredCredential,
    },
    /// A referee registered again and got a new token. Its open matches are played again.
    RefereeReturned {
        referee: RefereeId,
        profile: AgentProfile,
        capacity: u32,
        grant: StoredCredential,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commitments: Vec<DrawCommitment>,
    },
    RegistrationClosed,
    /// The operator opened the registration again, before any match had a result.
    RegistrationReopened,
    /// The operator withdrew a player. Before the first round the player is removed. After that it stays in the table and loses
    /// every match that no referee holds.
    PlayerWithdrawn {
        player: PlayerId,
    },
    /// Pairings are in the order of the match numbers, side A first. Players in `byes` have no match in this round.
    RoundStarted {
        round: RoundId,
        pairings: Vec<[PlayerId; 2]>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        byes: Vec<PlayerId>,
    },
    /// A format that must decide between equal players drew a lot, which these rounds and the secret decide.
    LotDrawn {
        /// The rounds completed so far; 0 before the first.
        rounds: RoundId,
        secret: DrawSecret,
    },
    MatchAssigned {
        match_id: MatchId,
        attempt: u32,
        referee: RefereeId,
        /// `None` for a referee that deposits no commitments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        draw: Option<Box<AssignedDraw>>,
    },
    /// The attempt ended without a result.
    MatchReturned {
        match_id: MatchId,
        attempt: u32,
        #[serde(default, skip_serializing_if = "ReturnCause::is_refused")]
        cause: ReturnCause,
    },
    /// A player handed the manager a signed move, because the referee asked for it again.
    MoveDeposited {
        match_id: MatchId,
        attempt: u32,
        player: PlayerId,
        #[serde(default = "first", skip_serializing_if = "is_first")]
        game_number: u32,
        turn: u32,
        view: DrawSeal,
        #[serde(rename = "move")]
        played: SmolStr,
    },
    /// The operator should look at how the referee ran this attempt.
    AlertRaised {
        match_id: MatchId,
        attempt: u32,
        referee: RefereeId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        player: Option<PlayerId>,
        kind: AlertKind,
    },
    /// The match waits for the operator's decision.
    MatchSuspended {
        match_id: MatchId,
        attempt: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report: Option<Box<ContestedReport>>,
    },
    /// The operator decided about the alerts of a match.
    DisputeResolved {
        match_id: MatchId,
        decision: DisputeDecision,
    },
    /// The manager cannot reach a referee. Other referees replay its open matches.
    RefereeLost {
        referee: RefereeId,
    },
    /// A referee that pulls has ended. Other referees play its open matches.
    RefereeLeft {
        referee: RefereeId,
    },
    /// The operator withdrew a referee. Other referees play its open matches.
    RefereeWithdrawn {
        referee: RefereeId,
    },
    /// How the match reached the result that the next event reports, and the hash of its transcript. Written only if the result alone
    /// does not say it.
    MatchExplained {
        match_id: MatchId,
        attempt: u32,
        account: Box<Account>,
    },
    MatchReported {
        match_id: MatchId,
        attempt: u32,
        record: MatchRecord,
        /// New commitments of the referee.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commitments: Vec<DrawCommitment>,
    },
    /// A match was decided without being played, because one of its players had been withdrawn.
    MatchAwarded {
        match_id: MatchId,
        outcome: Outcome,
    },
    RoundCompleted {
        round: RoundId,
    },
    LeagueCompleted,
    /// The manager or a referee learned something about an agent's dialect.
    AgentLearned {
        agent: AgentId,
        learned: LearnedDialect,
    },
    /// The operator had the manager forget what was learned about a player.
    DialectForgotten {
        player: PlayerId,
    },
    /// The operator did this. The events that it caused come before it.
    OperatorActed {
        origin: OperatorOrigin,
        action: SmolStr,
    },
    /// Running matches end; no new match starts.
    Halted,
    Resumed,
}

fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_first(number: &u32) -> bool {
    *number == 1
}

/// How the manager recognised the operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperatorOrigin {
    /// A client on the manager's machine, in a league without an operator's token.
    Loopback,
    Token,
}

impl OperatorOrigin {
    pub fn words(self) -> &'static str {
        match self {
            Self::Loopback => "on the manager's machine",
            Self::Token => "with the token",
        }
    }
}

impl Fact {
    /// `None` when the result tells everything.
    pub fn explained(match_id: MatchId, attempt: u32, account: Account) -> Option<Self> {
        let told = Account { started: None, ..account.clone() };
        (!told.is_empty()).then(|| Self::MatchExplained { match_id, attempt, account: Box::new(account) })
    }

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
            Self::LotDrawn { .. } => "lot_drawn",
            Self::MatchAssigned { .. } => "match_assigned",
            Self::MatchReturned { .. } => "match_returned",
            Self::MoveDeposited { .. } => "move_deposited",
            Self::AlertRaised { .. } => "alert_raised",
            Self::MatchSuspended { .. } => "match_suspended",
            Self::DisputeResolved { .. } => "dispute_resolved",
            Self::RefereeLost { .. } => "referee_lost",
            Self::RefereeLeft { .. } => "referee_left",
            Self::RefereeWithdrawn { .. } => "referee_withdrawn",
            Self::MatchExplained { .. } => "match_explained",
            Self::MatchReported { .. } => "match_reported",
            Self::MatchAwarded { .. } => "match_awarded",
            Self::RoundCompleted { .. } => "round_completed",
            Self::LeagueCompleted => "league_completed",
            Self::AgentLearned { .. } => "agent_learned",
            Self::DialectForgotten { .. } => "dialect_forgotten",
            Self::OperatorActed { .. } => "operator_acted",
            Self::Halted => "halted",
            Self::Resumed => "resumed",
        }
    }

    pub fn result(&self) -> Option<(&MatchId, MatchRecord)> {
        if let Self::MatchReported { match_id, record, .. } = self {
            return Some((match_id, record.summary()));
        }
        let Self::MatchAwarded { match_id, outcome } = self else { return None };
        Some((match_id, MatchRecord::unplayed(*outcome)))
    }
}
