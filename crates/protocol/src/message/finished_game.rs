//! A game of a match that is over, as one of its players is told.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::lenient;

/// The most games of a match.
pub const MAX_GAMES: u32 = 1000;

/// A game of this match that is over.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct FinishedGame {
    /// Which game, from one.
    pub game_number: u32,
    /// The player's own moves, in order.
    #[serde(default, deserialize_with = "lenient::value_or_default")]
    pub your_moves: Vec<SmolStr>,
    /// The opponent's moves, in order.
    #[serde(default, deserialize_with = "lenient::value_or_default")]
    pub opponent_moves: Vec<SmolStr>,
    /// The number of the game, where one was drawn.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub drawn_number: Option<u8>,
    /// What the player scored.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub your_score: i32,
    /// What the opponent scored.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub opponent_score: i32,
}
