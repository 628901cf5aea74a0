use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::finished_game::FinishedGame;
use super::game_view::GameView;
use super::standings::PlayerRecord;
use crate::draw::Signature;
use crate::id::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::lenient;
use crate::time::Timestamp;

/// A referee asks a player for its move.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GameMoveCall {
    /// The league.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The round.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// The match.
    pub match_id: MatchId,
    /// The player that is asked.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// The game.
    pub game_type: GameType,
    /// What the player may see.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub context: MoveContext,
    /// When the answer must be there.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// The attempt at this match, from one.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The game of this match, from one.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub game_number: Option<u32>,
    /// The player's move in this game, from one.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// How many games the match has; one where it is not said.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub games_per_match: Option<u32>,
    /// The games of this match that ended since the player's last move.
    #[serde(default, deserialize_with = "lenient::value_or_default", skip_serializing_if = "Vec::is_empty")]
    pub finished_games: Vec<FinishedGame>,
}

/// What a player may see before it moves.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct MoveContext {
    /// The opponent.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub opponent_id: Option<PlayerId>,
    /// The game so far, as the game writes it: for Tic-Tac-Toe nine characters, row by row.
    #[serde(default)]
    pub state: SmolStr,
    /// The same by name, where the game has names for it.
    #[serde(default, deserialize_with = "lenient::value_or_default", skip_serializing_if = "GameView::is_empty")]
    pub view: GameView,
    /// The player's own record so far.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub your_standings: PlayerRecord,
    /// Every legal move, where the game lists them.
    #[serde(default, deserialize_with = "lenient::value_or_default", skip_serializing_if = "Vec::is_empty")]
    pub legal_moves: Vec<SmolStr>,
    /// The rules of the game, in Markdown.
    #[serde(default, deserialize_with = "lenient::text_or_default", skip_serializing_if = "SmolStr::is_empty")]
    pub rules: SmolStr,
}

/// A player's move.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GameMoveResponse {
    /// The match.
    pub match_id: MatchId,
    /// The player.
    pub player_id: PlayerId,
    /// The move, as the game writes it.
    #[serde(rename = "move")]
    pub played: SmolStr,
    /// The signature of a player that signs.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}
