use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::query::{LeagueStatus, ScheduledMatch, ScheduledRound};
use crate::id::{LeagueId, MatchId, PlayerId, RefereeId};
use crate::token::Credential;

/// `create_schedule`: close the registration and pair the players with each other.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CreateSchedule {
    /// The players, by id; all that are registered when left out. Registered players that are not named are withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub players: Option<Vec<PlayerId>>,
}

/// The schedule that was made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleAnswer {
    /// The league.
    pub league_id: LeagueId,
    /// Its rounds.
    pub rounds: Vec<ScheduledRound>,
    /// The matches of all rounds in one list; left out when there are more than 1000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<ScheduledMatch>,
    /// Matches in all.
    pub total_matches: u32,
}

/// `start_league`, `stop_league` and `reopen_registration`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LeagueCommand {
    /// The league; the only one there is when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
}

/// `withdraw_player`: take a player out of the league.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WithdrawPlayer {
    /// The league; the only one there is when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// Whom.
    pub player_id: PlayerId,
}

/// `withdraw_referee`: take a referee out of the league. Other referees play its open matches.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WithdrawReferee {
    /// The league; the only one there is when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// Which one.
    pub referee_id: RefereeId,
}

/// Whether the operator finds a referee guilty.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DisputeDecision {
    /// The referee is at fault. A match that waits is played again by another referee.
    Uphold,
    /// The referee is not at fault. A match that waits counts as reported; without a report it is played again.
    Reject,
}

impl DisputeDecision {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Uphold => "uphold",
            Self::Reject => "reject",
        }
    }
}

/// `resolve_dispute`: decide about the alerts of a match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ResolveDispute {
    /// The league; the only one there is when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The match.
    pub match_id: MatchId,
    /// The decision.
    pub decision: DisputeDecision,
}

/// `forget_dialect`: forget what was learned about an agent's dialect. The next calls to it are canonical.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ForgetDialect {
    /// The league; the only one there is when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The player.
    pub player_id: PlayerId,
}

/// The role whose agents show a key to register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeyRole {
    /// Referees.
    Referee,
    /// Players.
    Player,
}

impl fmt::Display for KeyRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Referee => "referee",
            Self::Player => "player",
        })
    }
}

/// `rotate_key`: replace the key of a role. Agents that are registered stay registered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RotateKey {
    /// Whose key.
    pub role: KeyRole,
}

/// The new key, which is shown once and kept as a digest.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RotatedKey {
    /// Whose key.
    pub role: KeyRole,
    /// The key: agents send it as `join_key`.
    pub key: Credential,
}

pub type StatusAnswer = LeagueStatus;

/// Nothing to say, and nothing to answer: `ping`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Empty {}
