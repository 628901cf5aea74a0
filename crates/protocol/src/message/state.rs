use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::standings::PlayerRecord;
use crate::id::{LeagueId, MatchId, PlayerId, RoundId};

/// A player's own view.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlayerState {
    /// Its id, once it is registered.
    #[serde(default)]
    pub player_id: Option<PlayerId>,
    /// By name.
    pub display_name: SmolStr,
    /// `REGISTERED`, `WAITING_FOR_ROUND`, `CHOOSING_PARITY`, ….
    pub state: SmolStr,
    /// `INIT`, `REGISTERED`, `ACTIVE` or `SHUTDOWN`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<SmolStr>,
    /// Its league.
    #[serde(default)]
    pub league_id: Option<LeagueId>,
    /// The round it knows of.
    #[serde(default)]
    pub current_round: Option<RoundId>,
    /// The match it is in.
    #[serde(default)]
    pub current_match: Option<MatchId>,
    /// Its record, by its own count.
    pub record: PlayerRecord,
    /// Matches it remembers.
    pub matches_played: u32,
    /// Its place, as the last standings told it.
    #[serde(default)]
    pub rank: Option<u32>,
    /// How it chooses, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<SmolStr>,
}
