//! What players and the manager tell each other about an attempt, so that a referee can neither silence a player nor lie to it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::draw::{DrawCommitment, DrawSeal, Signature};
use crate::id::{LeagueId, MatchId};
use crate::lenient;

/// MOVE_DEPOSIT: a player hands the manager a move that the referee asks for again although it was answered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MoveDeposit {
    /// The league.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The match.
    pub match_id: MatchId,
    /// The attempt.
    pub attempt: u32,
    /// The game of the match, from one.
    pub game_number: u32,
    /// The player's move in the game, from one.
    pub turn: u32,
    /// The SHA-256 of what the referee showed.
    pub view_sha256: DrawSeal,
    /// The move.
    #[serde(rename = "move")]
    pub played: SmolStr,
    /// The signature that the referee got with it.
    pub signature: Signature,
}

/// What a referee did wrong, by the word of a player.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DisputeReason {
    /// The invitation shows another commitment than the manager announced.
    OtherCommitment,
    /// The number does not follow from the commitment and the nonces.
    BrokenDraw,
    /// GAME_OVER names another move than the player made.
    OtherMove,
}

impl DisputeReason {
    pub fn words(self) -> &'static str {
        match self {
            Self::OtherCommitment => "was shown another commitment than the assigned one",
            Self::BrokenDraw => "got a number that does not follow from the commitment",
            Self::OtherMove => "was told of another move than it made",
        }
    }
}

/// MATCH_DISPUTE: a player tells the manager that a referee cheats.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MatchDispute {
    /// The league.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The match.
    pub match_id: MatchId,
    /// The attempt.
    pub attempt: u32,
    /// What is wrong.
    pub reason: DisputeReason,
}

/// MATCH_INQUIRY: the manager asks a player what it saw of an attempt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MatchInquiry {
    /// The league.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The match.
    pub match_id: MatchId,
    /// The attempt.
    pub attempt: u32,
}

/// What a player saw of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct MatchTestimony {
    /// Whether the referee called it.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub called: bool,
    /// Whether it joined.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub joined: bool,
    /// How many moves it made.
    #[serde(default, deserialize_with = "lenient::count")]
    pub moves: u32,
    /// The last of its moves that the referee asked for, from one; 0 if it asked for none. Absent if the player does not know.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub asked: Option<u32>,
    /// Whether it has seen the result or a move of its opponent.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub revealed: bool,
    /// The commitment that the invitation showed.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub draw_commitment: Option<DrawCommitment>,
}

/// GAME_OVER_CONFIRMATION: both players of these matches were told the result, or did not answer in time.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GameOverConfirmation {
    /// The matches, at most 1,024.
    pub match_ids: Vec<MatchId>,
}
