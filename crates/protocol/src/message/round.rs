use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use smol_str::SmolStr;

use super::standings::FinalRow;
use crate::draw::DrawCommitment;
use crate::id::{GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use crate::lenient;

/// ROUND_ANNOUNCEMENT: these matches come next.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoundAnnouncement {
    /// The league.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The round.
    pub round_id: RoundId,
    /// Its matches; in a large league only those of the receiver.
    #[serde(default)]
    pub matches: Vec<AnnouncedMatch>,
    /// How many there are in all, where `matches` has not all of them.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub total_matches: Option<u32>,
    /// Whether all referees who may run these matches show passes. Where nothing is said they do. The match says whether its own does.
    #[serde(default, deserialize_with = "lenient::value", skip_serializing_if = "Option::is_none")]
    pub referees_show_passes: Option<bool>,
    /// Where the players listen, as managers of other make tell it to referees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub players: Option<Value>,
    /// The same under another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub agents: Option<Value>,
}

/// One match of a round.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AnnouncedMatch {
    /// The match.
    pub match_id: MatchId,
    /// Its round, where nothing around it says that.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// Its game.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub game_type: Option<GameType>,
    /// Who sits on side A.
    #[serde(rename = "player_A_id", alias = "player_a_id")]
    pub player_a_id: PlayerId,
    /// Who sits on side B.
    #[serde(rename = "player_B_id", alias = "player_b_id")]
    pub player_b_id: PlayerId,
    /// Where its referee listens.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub referee_endpoint: Option<String>,
    /// Its referee.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub referee_id: Option<RefereeId>,
    /// Whether the referee that holds this match shows passes, in a round where not all referees do.
    #[serde(default, deserialize_with = "lenient::value", skip_serializing_if = "Option::is_none")]
    pub referee_shows_passes: Option<bool>,
    /// The attempt that its referee holds.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The commitment of that attempt. An invitation that shows another one comes from a referee that cheats.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub draw_commitment: Option<DrawCommitment>,
    /// Where side A listens; told to referees only.
    #[serde(
        rename = "player_A_endpoint",
        default,
        deserialize_with = "lenient::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub player_a_endpoint: Option<String>,
    /// Where side B listens; told to referees only.
    #[serde(
        rename = "player_B_endpoint",
        default,
        deserialize_with = "lenient::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub player_b_endpoint: Option<String>,
}

/// ROUND_COMPLETED: every match of the round has its result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoundCompleted {
    /// The league.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The round.
    pub round_id: RoundId,
    /// How many matches it had.
    #[serde(default, deserialize_with = "lenient::count")]
    pub matches_played: u32,
    /// The same, as other sources call it.
    #[serde(default, deserialize_with = "lenient::count")]
    pub matches_completed: u32,
    /// The next round; null when this was the last.
    #[serde(default, deserialize_with = "lenient::number")]
    pub next_round_id: Option<RoundId>,
    /// How they ended.
    #[serde(default, deserialize_with = "lenient::value_or_default")]
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
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// Rounds played.
    #[serde(default, deserialize_with = "lenient::count")]
    pub total_rounds: u32,
    /// Matches played.
    #[serde(default, deserialize_with = "lenient::count")]
    pub total_matches: u32,
    /// Who won it.
    #[serde(default, deserialize_with = "lenient::value")]
    pub champion: Option<Champion>,
    /// The table, best first; in a large league only its head and the receiver's own row.
    #[serde(default, deserialize_with = "lenient::value_or_default")]
    pub final_standings: Vec<FinalRow>,
    /// How many rows there are in all, where `final_standings` has not all of them.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub total_players: Option<u32>,
}

/// The winner of a league.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Champion {
    /// Who.
    pub player_id: PlayerId,
    /// By name.
    #[serde(default, deserialize_with = "lenient::text_or_default")]
    pub display_name: SmolStr,
    /// With how many points.
    #[serde(default, deserialize_with = "lenient::count")]
    pub points: u32,
}

/// SHUTDOWN_COMMAND: finish what you are doing and leave.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ShutdownCommand {
    /// Why.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub reason: Option<SmolStr>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_completed_is_read_with_unreadable_fields() {
        let json = r#"{"round_id": 3, "matches_played": null, "matches_completed": "2", "next_round_id": "R4",
            "summary": ["P01 won"]}"#;
        let round: RoundCompleted = serde_json::from_str(json).unwrap();
        assert_eq!((round.round_id, round.next_round_id), (RoundId(3), None));
        assert_eq!((round.matches_played, round.matches_completed, round.summary), (0, 0, RoundSummary::default()));
    }

    #[test]
    fn league_completed_is_read_with_unreadable_fields() {
        let json = r#"{"total_rounds": null, "champion": "P01", "final_standings": {"P01": 9}}"#;
        let end: LeagueCompleted = serde_json::from_str(json).unwrap();
        assert_eq!((end.total_rounds, end.champion, end.final_standings), (0, None, Vec::new()));
    }
}
