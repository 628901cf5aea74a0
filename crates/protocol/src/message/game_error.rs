use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::id::{LeagueId, MatchId, PlayerId, RoundId};
use crate::lenient;
use crate::time::Timestamp;

/// A referee tells a player what it missed. The union of the three shapes that the course knows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GameError {
    /// The league.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The round.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// The match.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub match_id: Option<MatchId>,
    /// The player that is told.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// The player that caused it.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub affected_player: Option<PlayerId>,
    /// `E001`.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub error_code: Option<SmolStr>,
    /// `TIMEOUT_ERROR`.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub error_name: Option<SmolStr>,
    /// The name again, where most peers look for it.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub error_description: Option<SmolStr>,
    /// What happened and how to do better, in a sentence.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub hint: Option<SmolStr>,
    /// The state of the match.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub game_state: Option<SmolStr>,
    /// The message that is waited for.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub action_required: Option<SmolStr>,
    /// Whether the player is asked again.
    #[serde(default, deserialize_with = "lenient::flag", skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// Tries made.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub retry_count: Option<u8>,
    /// Tries in all.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u8>,
    /// The same, nested, with the time of the next try.
    #[serde(default, deserialize_with = "lenient::value", skip_serializing_if = "Option::is_none")]
    pub retry_info: Option<RetryInfo>,
    /// What happens when it goes on like this.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub consequence: Option<SmolStr>,
}

/// How often, and when again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RetryInfo {
    /// Tries made.
    #[serde(default)]
    pub retry_count: u8,
    /// Tries in all.
    #[serde(default)]
    pub max_retries: u8,
    /// When the next one comes.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub next_retry_at: Option<Timestamp>,
}
