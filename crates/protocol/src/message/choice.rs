use schemars::JsonSchema;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use smol_str::SmolStr;

use super::finished_game::FinishedGame;
use super::standings::PlayerRecord;
use crate::draw::Signature;
use crate::envelope::ReceivedEnvelope;
use crate::id::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::lenient;
use crate::parity::Parity;
use crate::quirk::Quirk;
use crate::time::Timestamp;

/// A referee asks a player for its choice.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
pub struct ChooseParityCall {
    /// The league.
    #[serde(default, deserialize_with = "lenient::text")]
    pub league_id: Option<LeagueId>,
    /// The round.
    #[serde(default, deserialize_with = "lenient::number")]
    pub round_id: Option<RoundId>,
    /// The match.
    pub match_id: MatchId,
    /// The player that is asked.
    #[serde(default, deserialize_with = "lenient::text")]
    pub player_id: Option<PlayerId>,
    /// The game.
    #[serde(default, deserialize_with = "lenient::text")]
    pub game_type: Option<GameType>,
    /// What may help to choose.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub context: ChoiceContext,
    /// When the answer must be there.
    #[serde(default, deserialize_with = "lenient::text")]
    pub deadline: Option<Timestamp>,
    /// The attempt at this match, from one.
    #[serde(default, deserialize_with = "lenient::number")]
    pub attempt: Option<u32>,
    /// The game of this match, from one.
    #[serde(default, deserialize_with = "lenient::number")]
    pub game_number: Option<u32>,
    /// The player's move in this game, from one.
    #[serde(default, deserialize_with = "lenient::number")]
    pub turn: Option<u32>,
    /// How many games the match has; one where it is not said.
    #[serde(default, deserialize_with = "lenient::number")]
    pub games_per_match: Option<u32>,
    /// The games of this match that ended since the player's last move.
    #[serde(default, deserialize_with = "lenient::value_or_default")]
    pub finished_games: Vec<FinishedGame>,
}

/// What may help to choose.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ChoiceContext {
    /// The opponent.
    #[serde(default, deserialize_with = "lenient::text")]
    pub opponent_id: Option<PlayerId>,
    /// The round.
    #[serde(default, deserialize_with = "lenient::number")]
    pub round_id: Option<RoundId>,
    /// The player's own record so far.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub your_standings: PlayerRecord,
}

impl ChooseParityCall {
    pub fn opponent(&self) -> Option<&PlayerId> {
        self.context.opponent_id.as_ref()
    }
}

/// Some players look for the context under `parity_context`, together with the match.
struct NestedCopy<'a>(&'a ChooseParityCall);

impl Serialize for NestedCopy<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let call = self.0;
        let mut copy = serializer.serialize_struct("parity_context", 6)?;
        copy.serialize_field("match_id", &call.match_id)?;
        copy.serialize_field("player_id", &call.player_id)?;
        copy.serialize_field("opponent_id", &call.context.opponent_id)?;
        copy.serialize_field("round_id", &call.round_id)?;
        copy.serialize_field("your_standings", &call.context.your_standings)?;
        copy.serialize_field("deadline", &call.deadline)?;
        copy.end()
    }
}

impl Serialize for ChooseParityCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("ChooseParityCall", 14)?;
        out.serialize_field("league_id", &self.league_id)?;
        out.serialize_field("round_id", &self.round_id)?;
        out.serialize_field("match_id", &self.match_id)?;
        out.serialize_field("player_id", &self.player_id)?;
        out.serialize_field("game_type", &self.game_type)?;
        out.serialize_field("game_id", &self.match_id)?;
        out.serialize_field("context", &self.context)?;
        out.serialize_field("deadline", &self.deadline)?;
        let numbers = [
            ("attempt", self.attempt),
            ("game_number", self.game_number),
            ("turn", self.turn),
            ("games_per_match", self.games_per_match),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                out.serialize_field(name, &number)?;
            }
        }
        if !self.finished_games.is_empty() {
            out.serialize_field("finished_games", &self.finished_games)?;
        }
        out.serialize_field("parity_context", &NestedCopy(self))?;
        out.end()
    }
}

/// A player's choice. Written with a copy under `choice`, where some referees look for it.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
pub struct ChooseParityResponse {
    /// The match.
    pub match_id: MatchId,
    /// The player.
    pub player_id: PlayerId,
    /// Exactly `even` or `odd`.
    pub parity_choice: Parity,
    /// The signature of a player that signs.
    #[serde(default, deserialize_with = "lenient::text")]
    pub signature: Option<Signature>,
}

impl Serialize for ChooseParityResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("ChooseParityResponse", 5)?;
        out.serialize_field("match_id", &self.match_id)?;
        out.serialize_field("player_id", &self.player_id)?;
        out.serialize_field("parity_choice", &self.parity_choice)?;
        out.serialize_field("choice", &self.parity_choice)?;
        if let Some(signature) = &self.signature {
            out.serialize_field("signature", signature)?;
        }
        out.end()
    }
}

/// A choice that a player posted to the referee by itself, in either of its forms, unjudged.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PostedChoice {
    /// The match.
    pub match_id: MatchId,
    /// The player.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// CHOOSE_PARITY_RESPONSE's choice.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub parity_choice: Option<SmolStr>,
    /// PARITY_CHOICE's choice.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub choice: Option<SmolStr>,
    /// GAME_MOVE_RESPONSE's move.
    #[serde(rename = "move", default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub played: Option<SmolStr>,
    /// The signature of a player that signs.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

impl PostedChoice {
    /// The exact text of `parity_choice`, `move` or `choice`; in the PARITY_CHOICE form `choice` in any case if it is a parity. Two
    /// different values count as none. Beside `parity_choice`, `choice` counts only in the PARITY_CHOICE form, as in answers to a call.
    pub fn value(&self, head: &ReceivedEnvelope) -> Option<SmolStr> {
        let parity_form = head.message_type.as_good().is_some_and(|name| name == "PARITY_CHOICE");
        let folded =
            |text: &SmolStr| Parity::folded(text).map_or_else(|| text.clone(), |parity| parity.as_str().into());
        let choice = self.choice.as_ref().filter(|_| parity_form || self.parity_choice.is_none());
        let choice = if parity_form { choice.map(folded) } else { choice.cloned() };
        let mut values = [self.parity_choice.clone(), self.played.clone(), choice].into_iter().flatten();
        let first = values.next()?;
        values.all(|other| other == first).then_some(first)
    }

    pub fn quirk(&self, head: &ReceivedEnvelope) -> Option<Quirk> {
        let called = |name: &str| head.message_type.as_good().is_some_and(|known| known == name);
        match (called("PARITY_CHOICE"), &self.parity_choice, &self.choice) {
            (true, _, Some(_)) => Some(Quirk::ParityChoiceForm),
            (false, None, Some(_)) => Some(Quirk::ChoiceField),
            (true | false, _, _) => None,
        }
    }
}
