//! A referee's tools for matches that the operator steps through.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::game_over::{ByPlayer, GameResult};
use super::registration::RegistrationStatus;
use super::report::ReportedMove;
use crate::draw::DrawCommitment;
use crate::id::{GameType, LeagueId, MatchId, PlayerId, RefereeId};

/// Names the match that a step is for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written")]
#[schemars(!try_from)]
pub struct MatchStep {
    /// The match.
    pub match_id: MatchId,
}

/// The course's tools call the match a game session.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    match_id: Option<MatchId>,
    #[serde(default)]
    game_session_id: Option<MatchId>,
    #[serde(default)]
    game_id: Option<MatchId>,
}

impl TryFrom<Written> for MatchStep {
    type Error = &'static str;
    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let named = written.match_id.or(written.game_session_id).or(written.game_id);
        named.map(|match_id| Self { match_id }).ok_or("missing field `match_id`")
    }
}

/// How a match stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MatchState {
    /// The match.
    pub match_id: MatchId,
    /// The attempt at it.
    pub attempt: u32,
    /// The game.
    pub game_type: GameType,
    /// `WAITING_FOR_PLAYERS`, `COLLECTING_CHOICES`, `DRAWING_NUMBER` or `FINISHED`.
    pub state: SmolStr,
    /// The step that a stepped match waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<SmolStr>,
    /// Side A.
    #[serde(rename = "player_A_id")]
    pub player_a_id: PlayerId,
    /// Side B.
    #[serde(rename = "player_B_id")]
    pub player_b_id: PlayerId,
    /// Who has joined.
    #[serde(default)]
    pub joined: ByPlayer<bool>,
    /// Who has chosen; what, only when all is over.
    #[serde(default)]
    pub chosen: ByPlayer<bool>,
    /// Public moves of this or the last game in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<ReportedMove>,
    /// The calls that wait for an answer.
    #[serde(default, skip_serializing_if = "ByPlayer::is_empty")]
    pub open_calls: ByPlayer<OpenCall>,
    /// The game that is being played, from one, in a match of several games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game_number: Option<u32>,
    /// The sum of the games that are over, in a match of several games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game_score: Option<ByPlayer<i32>>,
    /// What binds the draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw_commitment: Option<DrawCommitment>,
    /// The end, once it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game_result: Option<GameResult>,
}

/// A call that waits for an answer. It has spans and no times, because the clocks of two machines differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OpenCall {
    /// The milliseconds that are left.
    pub left_ms: u64,
    /// The limit in milliseconds.
    pub limit_ms: u64,
}

/// `register_to_league`: go and register.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RegisterToLeague {
    /// Where the manager listens; the configured one when left out.
    #[serde(default, alias = "league_endpoint", skip_serializing_if = "Option::is_none")]
    pub manager_endpoint: Option<String>,
}

/// How that went. The token stays with the referee.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RegisteredToLeague {
    /// In or not.
    pub status: RegistrationStatus,
    /// Under which id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referee_id: Option<RefereeId>,
    /// In which league.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// Why not.
    #[serde(default)]
    pub reason: Option<String>,
}
