use schemars::JsonSchema;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use smol_str::SmolStr;

use crate::draw::{DrawCommitment, DrawNonce, Signature};
use crate::id::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::lenient;
use crate::side::Side;
use crate::time::Timestamp;

/// A referee invites a player to a match.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
pub struct GameInvitation {
    /// The league.
    #[serde(default, deserialize_with = "lenient::text")]
    pub league_id: Option<LeagueId>,
    /// The round.
    #[serde(default, deserialize_with = "lenient::number")]
    pub round_id: Option<RoundId>,
    /// The match.
    pub match_id: MatchId,
    /// The invited player.
    #[serde(default, deserialize_with = "lenient::text")]
    pub player_id: Option<PlayerId>,
    /// The game.
    #[serde(default, deserialize_with = "lenient::text")]
    pub game_type: Option<GameType>,
    /// The invited player's side.
    #[serde(default, deserialize_with = "lenient::text")]
    pub role_in_match: Option<Side>,
    /// The opponent.
    #[serde(default, deserialize_with = "lenient::text")]
    pub opponent_id: Option<PlayerId>,
    /// The attempt at this match, from one.
    #[serde(default, deserialize_with = "lenient::number")]
    pub attempt: Option<u32>,
    /// SHA-256 of the secret that will decide the draw.
    #[serde(default, deserialize_with = "lenient::text")]
    pub draw_commitment: Option<DrawCommitment>,
    /// How many games the match has; one where it is not said.
    #[serde(default, deserialize_with = "lenient::number")]
    pub games_per_match: Option<u32>,
}

/// Some players look for the fields under `game_invitation`.
struct NestedCopy<'a>(&'a GameInvitation);

impl Serialize for NestedCopy<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut copy = serializer.serialize_struct("game_invitation", 8)?;
        self.0.write_fields(&mut copy)?;
        copy.end()
    }
}

impl GameInvitation {
    fn write_fields<S: SerializeStruct>(&self, out: &mut S) -> Result<(), S::Error> {
        out.serialize_field("league_id", &self.league_id)?;
        out.serialize_field("round_id", &self.round_id)?;
        out.serialize_field("match_id", &self.match_id)?;
        out.serialize_field("player_id", &self.player_id)?;
        out.serialize_field("game_type", &self.game_type)?;
        out.serialize_field("game_id", &self.match_id)?;
        out.serialize_field("role_in_match", &self.role_in_match)?;
        out.serialize_field("opponent_id", &self.opponent_id)
    }
}

impl Serialize for GameInvitation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("GameInvitation", 12)?;
        self.write_fields(&mut out)?;
        if let Some(attempt) = &self.attempt {
            out.serialize_field("attempt", attempt)?;
        }
        if let Some(commitment) = &self.draw_commitment {
            out.serialize_field("draw_commitment", commitment)?;
        }
        if let Some(games) = &self.games_per_match {
            out.serialize_field("games_per_match", games)?;
        }
        out.serialize_field("game_invitation", &NestedCopy(self))?;
        out.end()
    }
}

/// A player's answer to an invitation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GameJoinAck {
    /// The match.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub match_id: Option<MatchId>,
    /// The player.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// When it arrived.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub arrival_timestamp: Option<Timestamp>,
    /// Whether it plays. A join that does not say so plays.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub accept: Option<bool>,
    /// What it adds to the draw.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub draw_nonce: Option<DrawNonce>,
    /// Why it does not play.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub reason: Option<SmolStr>,
    /// The signature of a player that signs.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}
