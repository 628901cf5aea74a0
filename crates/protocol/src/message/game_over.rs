//! GAME_OVER: how it ended, told to each player from its own side, with everything that proves the draw.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;

use crate::draw::{DrawCommitment, DrawNonce, DrawSecret};
use crate::id::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::loose;
use crate::parity::Parity;

/// The end of a match in one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ResultStatus {
    /// Somebody won in the game.
    Win,
    /// Nobody did.
    Draw,
    /// Somebody lost without a game.
    TechnicalLoss,
}

/// The same word from one player's side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OwnResult {
    /// Won.
    Win,
    /// Lost in the game.
    Loss,
    /// Neither.
    Draw,
    /// Lost without a game.
    TechnicalLoss,
}

impl FromStr for OwnResult {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "WIN" => Ok(Self::Win),
            "LOSS" => Ok(Self::Loss),
            "DRAW" => Ok(Self::Draw),
            "TECHNICAL_LOSS" => Ok(Self::TechnicalLoss),
            _ => Err(()),
        }
    }
}

/// One entry for each player of a match, in the order of sides: at most two.
///
/// An object on the wire. A map would do, but two entries in a known order need none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ByPlayer<T>(pub Vec<(PlayerId, T)>);

impl<T> ByPlayer<T> {
    /// `player`'s entry.
    pub fn get(&self, player: &PlayerId) -> Option<&T> {
        self.0.iter().find(|(id, _)| id == player).map(|(_, entry)| entry)
    }
}

impl<T> Default for ByPlayer<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Serialize> Serialize for ByPlayer<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(player, entry)| (player, entry)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ByPlayer<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = ByPlayer<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with one entry for each player")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ByPlayer<T>, A::Error> {
                let mut entries = Vec::with_capacity(2);
                while let Some((player, entry)) = map.next_entry::<PlayerId, T>()? {
                    if entries.len() == 2 || entries.iter().any(|(other, _)| *other == player) {
                        return Err(serde::de::Error::custom("a match has two players, each named once"));
                    }
                    entries.push((player, entry));
                }
                Ok(ByPlayer(entries))
            }
        }
        deserializer.deserialize_map(Entries(std::marker::PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for ByPlayer<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("ByPlayer_{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let entry = generator.subschema_for::<T>();
        schemars::json_schema!({ "type": "object", "additionalProperties": entry })
    }
    fn inline_schema() -> bool {
        true
    }
}

/// The referee tells a player how the match ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GameOver {
    /// The league.
    #[serde(default, deserialize_with = "loose::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The round.
    #[serde(default, deserialize_with = "loose::number", skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// The match.
    pub match_id: MatchId,
    /// The player that is told.
    #[serde(default, deserialize_with = "loose::text", skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// The game.
    #[serde(default, deserialize_with = "loose::text", skip_serializing_if = "Option::is_none")]
    pub game_type: Option<GameType>,
    /// The whole result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game_result: Option<GameResult>,
    /// The result from this player's side.
    #[serde(default, deserialize_with = "loose::text", skip_serializing_if = "Option::is_none")]
    pub result: Option<OwnResult>,
    /// The number that was drawn; null when none was.
    #[serde(default)]
    pub drawn_number: Option<u8>,
    /// What this player chose.
    #[serde(default)]
    pub your_choice: Option<SmolStr>,
    /// What the opponent chose.
    #[serde(default)]
    pub opponent_choice: Option<SmolStr>,
    /// The points this player made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points_earned: Option<u32>,
    /// What proves the draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<DrawProof>,
}

/// The result of a match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GameResult {
    /// In one word.
    pub status: ResultStatus,
    /// The winner; null in a draw.
    #[serde(default)]
    pub winner_player_id: Option<PlayerId>,
    /// The number; null when none was drawn.
    #[serde(default)]
    pub drawn_number: Option<u8>,
    /// Its parity; null when none was drawn.
    #[serde(default)]
    pub number_parity: Option<Parity>,
    /// What was chosen, as far as it was received.
    #[serde(default, deserialize_with = "loose::or_default")]
    pub choices: ByPlayer<Option<SmolStr>>,
    /// In a sentence.
    #[serde(default)]
    pub reason: String,
}

/// Everything that anybody needs to check a draw.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DrawProof {
    /// What the invitation promised.
    pub commitment: DrawCommitment,
    /// What it promised to reveal.
    pub secret: DrawSecret,
    /// The attempt at this match.
    pub attempt: u32,
    /// What the players added.
    #[serde(default)]
    pub nonces: ByPlayer<DrawNonce>,
    /// Whether the secret came from a league's seed: reproducible, and therefore predictable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seeded: bool,
}
