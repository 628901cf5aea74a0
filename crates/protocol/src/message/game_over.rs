//! GAME_OVER is a notice, so an unreadable field counts as absent and never refuses it.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;

use super::finished_game::FinishedGame;
use crate::draw::{DrawCommitment, DrawNonce, DrawSeal, DrawSecret};
use crate::id::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::lenient;
use crate::parity::Parity;

/// The end of a match in one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ResultStatus {
    /// One player won the game.
    Win,
    /// The game was a draw.
    Draw,
    /// One player lost without a game.
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

/// In any case, because other referees vary the words.
impl FromStr for ResultStatus {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let words = [("WIN", Self::Win), ("DRAW", Self::Draw), ("TECHNICAL_LOSS", Self::TechnicalLoss)];
        words.into_iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, status)| status).ok_or(())
    }
}

impl FromStr for OwnResult {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        if text.eq_ignore_ascii_case("LOSS") {
            return Ok(Self::Loss);
        }
        Ok(match text.parse()? {
            ResultStatus::Win => Self::Win,
            ResultStatus::Draw => Self::Draw,
            ResultStatus::TechnicalLoss => Self::TechnicalLoss,
        })
    }
}

/// One entry for each player of a match, in the order of sides: at most two. An object on the wire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ByPlayer<T>(pub Vec<(PlayerId, T)>);

impl<T> ByPlayer<T> {
    pub fn get(&self, player: &PlayerId) -> Option<&T> {
        self.0.iter().find(|(id, _)| id == player).map(|(_, entry)| entry)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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
                        return Err(serde::de::Error::custom("a match has two players; send one entry for each"));
                    }
                    entries.push((player, entry));
                }
                Ok(ByPlayer(entries))
            }
        }
        deserializer.deserialize_map(Entries(std::marker::PhantomData))
    }
}

impl<T> ByPlayer<Option<T>> {
    /// Keeps only players from whom something was received.
    #[must_use]
    pub fn received(mut self) -> Self {
        self.0.retain(|(_, entry)| entry.is_some());
        self
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
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The round.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// The match.
    pub match_id: MatchId,
    /// The player that is told.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// The game.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub game_type: Option<GameType>,
    /// The whole result.
    #[serde(default, deserialize_with = "lenient::value", skip_serializing_if = "Option::is_none")]
    pub game_result: Option<GameResult>,
    /// The result from this player's side.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub result: Option<OwnResult>,
    /// The number that was drawn; null when none was.
    #[serde(default, deserialize_with = "lenient::number")]
    pub drawn_number: Option<u8>,
    /// What this player chose.
    #[serde(default, deserialize_with = "lenient::text")]
    pub your_choice: Option<SmolStr>,
    /// What the opponent chose.
    #[serde(default, deserialize_with = "lenient::text")]
    pub opponent_choice: Option<SmolStr>,
    /// The points this player made.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub points_earned: Option<u32>,
    /// What proves the draw.
    #[serde(default, deserialize_with = "lenient::value", skip_serializing_if = "Option::is_none")]
    pub draw: Option<DrawProof>,
    /// What this player did wrong and how to mend it, where it lost without a game.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub hint: Option<SmolStr>,
    /// Whether the manager has not taken the report yet.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "std::ops::Not::not")]
    pub provisional: bool,
    /// How many games the match has; one where it is not said.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub games_per_match: Option<u32>,
    /// The games of this match that ended since the player's last move before them.
    #[serde(default, deserialize_with = "lenient::value_or_default", skip_serializing_if = "Vec::is_empty")]
    pub finished_games: Vec<FinishedGame>,
}

/// The result of a match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GameResult {
    /// In one word; nothing where it is a word that we do not know.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub status: Option<ResultStatus>,
    /// The winner; null in a draw.
    #[serde(default, deserialize_with = "winner")]
    pub winner_player_id: Option<PlayerId>,
    /// The number; null when none was drawn.
    #[serde(default, deserialize_with = "lenient::number")]
    pub drawn_number: Option<u8>,
    /// Its parity; null when none was drawn.
    #[serde(default, deserialize_with = "lenient::value")]
    pub number_parity: Option<Parity>,
    /// What was chosen, as far as it was received.
    #[serde(default, deserialize_with = "lenient::value_or_default")]
    pub choices: ByPlayer<Option<SmolStr>>,
    /// In a sentence.
    #[serde(default, deserialize_with = "lenient::text_or_default")]
    pub reason: String,
}

/// True for the words that some referees write when there is no winner.
pub(super) fn means_no_winner(winner: &str) -> bool {
    ["", "DRAW", "NONE", "NULL"].iter().any(|word| word.eq_ignore_ascii_case(winner))
}

fn winner<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PlayerId>, D::Error> {
    let named: Option<PlayerId> = lenient::text(deserializer)?;
    Ok(named.filter(|player| !means_no_winner(player.as_str())))
}

/// Everything that is needed to check a draw.
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
    /// The bytes from which the number was taken. Referees of other make may leave them out; what stands here must fit, so
    /// it is read as strictly as the secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<DrawSeal>,
    /// Whether the secret came from a league's seed: reproducible, and therefore predictable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seeded: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> GameOver {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn result_words_are_read_in_any_case_and_written_in_capitals() {
        let over = read(r#"{"match_id": "R1M1", "result": "win", "game_result": {"status": "Technical_Loss"}}"#);
        assert_eq!(over.result, Some(OwnResult::Win));
        assert_eq!(over.game_result.as_ref().unwrap().status, Some(ResultStatus::TechnicalLoss));
        let written = serde_json::to_value(&over).unwrap();
        assert_eq!((&written["result"], &written["game_result"]["status"]), (&"WIN".into(), &"TECHNICAL_LOSS".into()));
        for own in [OwnResult::Win, OwnResult::Loss, OwnResult::Draw, OwnResult::TechnicalLoss] {
            let word = serde_json::to_value(own).unwrap();
            assert_eq!(word.as_str().unwrap().to_lowercase().parse(), Ok(own));
        }
    }

    #[test]
    fn unreadable_fields_of_game_over_are_left_out() {
        let over = read(
            r#"{"match_id": "R1M1", "result": "victory", "drawn_number": "8", "your_choice": 1, "opponent_choice": "odd",
                "points_earned": 3.0, "draw": false, "game_result": {"status": "COMPLETED", "winner_player_id": "P01",
                "drawn_number": 1000, "number_parity": "EVEN", "choices": ["even", "odd"], "reason": null}}"#,
        );
        assert_eq!((over.result, over.drawn_number, over.your_choice), (None, None, None));
        assert_eq!((over.points_earned, over.draw, over.opponent_choice.as_deref()), (None, None, Some("odd")));
        let result = over.game_result.unwrap();
        assert_eq!((result.status, result.drawn_number, result.number_parity), (None, None, None));
        assert_eq!((result.winner_player_id, result.choices), (Some(PlayerId::numbered(1)), ByPlayer::default()));
        assert_eq!(read(r#"{"match_id": "R1M1", "game_result": "P01 wins"}"#).game_result, None);
    }

    #[test]
    fn a_draw_proof_without_seal_is_read_and_one_with_a_malformed_seal_is_not() {
        let proof = |seal: &str| {
            let zeros = "0".repeat(64);
            let draw = format!(r#"{{"commitment": "{zeros}", "secret": "{zeros}", "attempt": 1, "seal": {seal}}}"#);
            read(&format!(r#"{{"match_id": "R1M1", "draw": {draw}}}"#)).draw.map(|proof| proof.seal)
        };
        assert_eq!(proof("null"), Some(None));
        assert_eq!(proof(&format!("{:?}", "ab".repeat(32))), Some(Some(DrawSeal([0xAB; 32]))));
        for wrong in ["\"\"", "\"abab\"", "7", "[]"] {
            assert_eq!(proof(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_word_for_no_winner_is_read_as_none() {
        for nobody in ["\"\"", "\"draw\"", "\"None\"", "null", "false"] {
            let over = read(&format!(r#"{{"match_id": "R1M1", "game_result": {{"winner_player_id": {nobody}}}}}"#));
            assert_eq!(over.game_result.unwrap().winner_player_id, None, "{nobody}");
        }
    }
}
