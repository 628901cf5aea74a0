//! A round begins, a round ends, the league ends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::standings::FinalRow;
use crate::id::{GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use crate::loose;

/// ROUND_ANNOUNCEMENT: these matches come next.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoundAnnouncement {
    /// The league.
    #[serde(default, deserialize_with = "loose::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The round.
    pub round_id: RoundId,
    /// Its matches; in a large league only those of the receiver.
    #[serde(default)]
    pub matches: Vec<AnnouncedMatch>,
    /// How many there are in all, where `matches` has not all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_matches: Option<u32>,
}

/// One match of a round.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AnnouncedMatch {
    /// The match.
    pub match_id: MatchId,
    /// Its game.
    #[serde(default, deserialize_with = "loose::text", skip_serializing_if = "Option::is_none")]
    pub game_type: Option<GameType>,
    /// Who sits on side A.
    #[serde(rename = "player_A_id", alias = "player_a_id")]
    pub player_a_id: PlayerId,
    /// Who sits on side B.
    #[serde(rename = "player_B_id", alias = "player_b_id")]
    pub player_b_id: PlayerId,
    /// Where its referee listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referee_endpoint: Option<String>,
    /// Its referee.
    #[serde(default, deserialize_with = "loose::text", skip_serializing_if = "Option::is_none")]
    pub referee_id: Option<RefereeId>,
    /// Where side A listens; told to referees only.
    #[serde(rename = "player_A_endpoint", default, skip_serializing_if = "Option::is_none")]
    pub player_a_endpoint: Option<String>,
    /// Where side B listens; told to referees only.
    #[serde(rename = "player_B_endpoint", default, skip_serializing_if = "Option::is_none")]
    pub player_b_endpoint: Option<String>,
}

/// ROUND_COMPLETED: every match of the round has its result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoundCompleted {
    /// The league.
    #[serde(default, deserialize_with = "loose::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The round.
    pub round_id: RoundId,
    /// How many matches it had.
    #[serde(default)]
    pub matches_played: u32,
    /// The same, as other sources call it.
    #[serde(default)]
    pub matches_completed: u32,
    /// The next round; null when this was the last.
    #[serde(default)]
    pub next_round_id: Option<RoundId>,
    /// How they ended.
    #[serde(default)]
    pub summary: RoundSummary,
}

/// How the matches of a round ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RoundSummary {
    /// All of them.
    pub total_matches: u32,
    /// Won in the game.
    pub wins: u32,
    /// Drawn.
    pub draws: u32,
    /// Lost without a game.
    pub technical_losses: u32,
}

/// LEAGUE_COMPLETED: nothing more to play.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeagueCompleted {
    /// The league.
    #[serde(default, deserialize_with = "loose::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// Rounds played.
    #[serde(default)]
    pub total_rounds: u32,
    /// Matches played.
    #[serde(default)]
    pub total_matches: u32,
    /// Who won it.
    #[serde(default)]
    pub champion: Option<Champion>,
    /// The table, best first.
    #[serde(default)]
    pub final_standings: Vec<FinalRow>,
}

/// The winner of a league.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Champion {
    /// Who.
    pub player_id: PlayerId,
    /// By name.
    #[serde(default)]
    pub display_name: SmolStr,
    /// With how many points.
    #[serde(default)]
    pub points: u32,
}

/// SHUTDOWN_COMMAND: finish what you are doing and leave.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ShutdownCommand {
    /// Why.
    #[serde(default, deserialize_with = "loose::text", skip_serializing_if = "Option::is_none")]
    pub reason: Option<SmolStr>,
}
