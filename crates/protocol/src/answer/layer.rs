use std::cell::Cell;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use smol_str::SmolStr;

use super::PeerError;
use crate::envelope::{PROTOCOL, WrittenTime};
use crate::lenient::{self, Field};
use crate::quirk::{Quirk, Quirks};
use crate::sender::Sender;
use crate::token::Credential;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LayerPath {
    Outside,
    Result,
    Params,
    Structured,
    Text,
    Data,
}

impl LayerPath {
    pub(super) fn quirk(self) -> Option<Quirk> {
        match self {
            Self::Outside | Self::Result | Self::Structured => None,
            Self::Params => Some(Quirk::AnswerInParams),
            Self::Text => Some(Quirk::AnswerInText),
            Self::Data => Some(Quirk::AnswerInData),
        }
    }
}

/// Objects inside objects that an answer may have. Each level needs a few kilobytes of stack.
const MAX_DEPTH: usize = 16;

thread_local! {
    /// The level that is being read: a derived reader takes no state.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

#[derive(Default)]
enum InnerValue {
    #[default]
    Absent,
    Null,
    Object(Box<Layer>),
    Text(SmolStr),
    Other,
}

impl<'de> Deserialize<'de> for InnerValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = InnerValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InnerValue, A::Error> {
                let depth = DEPTH.get();
                if depth == MAX_DEPTH {
                    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                    return Ok(InnerValue::Other);
                }
                DEPTH.set(depth + 1);
                let layer = Layer::deserialize(MapAccessDeserializer::new(map));
                DEPTH.set(depth);
                Ok(InnerValue::Object(Box::new(layer?)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<InnerValue, A::Error> {
                let first = seq.next_element::<InnerValue>()?.unwrap_or_default();
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(match first {
                    InnerValue::Object(layer) => layer.text.good().map_or(InnerValue::Other, InnerValue::Text),
                    InnerValue::Absent | InnerValue::Null | InnerValue::Text(_) | InnerValue::Other => {
                        InnerValue::Other
                    }
                })
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<InnerValue, E> {
                Ok(InnerValue::Text(SmolStr::new(text)))
            }
            fn visit_unit<E: Error>(self) -> Result<InnerValue, E> {
                Ok(InnerValue::Null)
            }
            fn visit_bool<E: Error>(self, _: bool) -> Result<InnerValue, E> {
                Ok(InnerValue::Other)
            }
            fn visit_i64<E: Error>(self, _: i64) -> Result<InnerValue, E> {
                Ok(InnerValue::Other)
            }
            fn visit_u64<E: Error>(self, _: u64) -> Result<InnerValue, E> {
                Ok(InnerValue::Other)
            }
            fn visit_f64<E: Error>(self, _: f64) -> Result<InnerValue, E> {
                Ok(InnerValue::Other)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// Has no `Debug`, because it may hold a token.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Layer {
    result: InnerValue,
    params: InnerValue,
    #[serde(rename = "structuredContent")]
    structured: InnerValue,
    content: InnerValue,
    data: InnerValue,
    error: InnerValue,
    method: Field<SmolStr>,
    text: Field<SmolStr>,
    #[serde(rename = "isError", deserialize_with = "lenient::flag")]
    is_error: Option<bool>,

    message_type: Field<SmolStr>,
    r#type: Field<SmolStr>,
    #[serde(deserialize_with = "lenient::flag")]
    accept: Option<bool>,
    #[serde(deserialize_with = "lenient::flag")]
    accepted: Option<bool>,
    #[serde(deserialize_with = "lenient::flag")]
    success: Option<bool>,
    #[serde(deserialize_with = "lenient::flag")]
    pub(super) complete: Option<bool>,
    pub(super) status: Field<SmolStr>,
    pub(super) parity_choice: Field<SmolStr>,
    pub(super) choice: Field<SmolStr>,
    #[serde(rename = "move")]
    pub(super) played: Field<SmolStr>,
    pub(super) draw_nonce: Field<SmolStr>,
    pub(super) signature: Field<SmolStr>,
    #[serde(deserialize_with = "lenient::flag")]
    pub(super) called: Option<bool>,
    #[serde(deserialize_with = "lenient::flag")]
    pub(super) joined: Option<bool>,
    #[serde(deserialize_with = "lenient::number")]
    pub(super) moves: Option<u32>,
    #[serde(deserialize_with = "lenient::number")]
    pub(super) asked: Option<u32>,
    #[serde(deserialize_with = "lenient::flag")]
    pub(super) revealed: Option<bool>,
    pub(super) draw_commitment: Field<SmolStr>,
    pub(super) match_id: Field<SmolStr>,
    pub(super) game_id: Field<SmolStr>,
    pub(super) player_id: Field<SmolStr>,
    pub(super) referee_id: Field<SmolStr>,
    pub(super) league_id: Field<SmolStr>,
    pub(super) pass_scheme: Field<SmolStr>,
    #[serde(deserialize_with = "lenient::or_default")]
    pub(super) operator_needs_token: bool,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) reason: Option<String>,
    #[serde(deserialize_with = "lenient::number")]
    pub(super) reason_code: Option<i64>,
    protocol: Field<SmolStr>,
    sender: Field<SmolStr>,
    timestamp: Field<SmolStr>,
    #[serde(rename = "conversation_id", deserialize_with = "lenient::is_given")]
    has_conversation: bool,
    auth_token: Field<Credential>,
    #[serde(deserialize_with = "lenient::number")]
    code: Option<i64>,
    message: Field<SmolStr>,
    error_code: Field<SmolStr>,
    error_description: Field<SmolStr>,
    hint: Field<SmolStr>,
    #[serde(skip)]
    pub(super) null_error: bool,
}

impl Layer {
    /// Rejects a list, because a derived reader would take its entries as fields in order.
    pub(super) fn read(text: &str) -> Option<Self> {
        if text.trim_ascii_start().starts_with('{') { serde_json::from_str(text).ok() } else { None }
    }

    /// Flattens this object and the objects inside it, outermost first.
    pub(super) fn unfold(mut self, place: LayerPath, found: &mut Vec<(LayerPath, Self)>) {
        self.null_error = matches!(self.error, InnerValue::Null);
        let looks_like_a_request = !self.method.is_absent();
        let params = std::mem::take(&mut self.params);
        let inner = [
            (LayerPath::Result, std::mem::take(&mut self.result)),
            (LayerPath::Params, if looks_like_a_request { params } else { InnerValue::Absent }),
            (LayerPath::Structured, std::mem::take(&mut self.structured)),
            (LayerPath::Text, std::mem::take(&mut self.content)),
            (LayerPath::Data, std::mem::take(&mut self.data)),
        ];
        if let (Some(true), Field::Absent, InnerValue::Text(text)) = (self.is_error, &self.message, &inner[3].1) {
            // A tool that fails says why in its text.
            self.message = Field::Good(text.clone());
        }
        found.push((place, self));
        for (place, inner) in inner {
            match inner {
                InnerValue::Object(layer) => layer.unfold(place, found),
                // Also beside structured content, which may repeat the text instead of an object.
                // Its depth is bounded, because each level doubles the escapes.
                InnerValue::Text(text) if place == LayerPath::Text => {
                    if let Some(layer) = Self::read(&text) {
                        layer.unfold(LayerPath::Text, found);
                    }
                }
                InnerValue::Text(_) | InnerValue::Absent | InnerValue::Null | InnerValue::Other => {}
            }
        }
    }

    pub(super) fn is_called(&self, name: &str) -> bool {
        self.message_type.as_text() == Some(name) || self.r#type.as_text() == Some(name)
    }

    pub(super) fn named_match(&self) -> Option<&str> {
        let named = if self.match_id.is_absent() { &self.game_id } else { &self.match_id };
        named.as_text()
    }

    /// A refusal wins if `accept` and `accepted` differ.
    pub(super) fn accepts(&self) -> Option<bool> {
        match (self.accept, self.accepted) {
            (Some(a), Some(b)) => Some(a && b),
            (given, None) | (None, given) => given,
        }
    }

    pub(super) fn joins(&self) -> bool {
        let joined = |status: &str| ["ACK", "ACCEPTED", "JOINED"].iter().any(|word| word.eq_ignore_ascii_case(status));
        self.status.as_text().is_some_and(joined)
    }

    pub(super) fn refuses(&self) -> bool {
        let refused =
            |status: &str| ["REFUSED", "REJECTED", "BUSY"].iter().any(|word| word.eq_ignore_ascii_case(status));
        self.status.as_text().is_some_and(refused)
    }

    /// A plain `error` may concern the form of the request, so it is a rejection only in an answer to a registration.
    pub(super) fn admission(&self) -> Option<bool> {
        let is = |words: &[&str], status: &str| words.iter().any(|word| word.eq_ignore_ascii_case(status));
        let answers = self.reason.is_some()
            || self.is_called("LEAGUE_REGISTER_RESPONSE")
            || self.is_called("REFEREE_REGISTER_RESPONSE");
        match self.status.as_text() {
            Some(status) if is(&["ACCEPTED", "REGISTERED", "OK", "SUCCESS"], status) => Some(true),
            Some(status) if is(&["REJECTED", "DENIED"], status) => Some(false),
            Some(status) if is(&["ERROR", "FAILED"], status) => answers.then_some(false),
            Some(_) | None if self.success == Some(false) => answers.then_some(false),
            Some(_) | None => self.success,
        }
    }

    pub(super) fn complaint(&self) -> Option<PeerError> {
        let failed = |status: &str| ["ERROR", "FAILED"].iter().any(|word| word.eq_ignore_ascii_case(status));
        let says_so = self.success == Some(false) || self.status.as_text().is_some_and(failed);
        says_so.then(|| PeerError {
            number: None,
            code: self.error_code.as_text().map(SmolStr::new),
            words: self.words(),
        })
    }

    pub(super) fn credential(&self) -> Option<Credential> {
        self.auth_token.as_good().filter(|token| !token.is_empty()).cloned()
    }

    pub(super) fn envelope_quirks(&self, quirks: &mut Quirks) {
        let time = self.timestamp.parse::<WrittenTime>();
        let sender_is_canonical = self.sender.parse::<Sender>().is_some_and(|sender| sender.is_canonical());
        let found = [
            (self.protocol.is_absent(), Quirk::NoProtocol),
            (self.message_type.is_absent(), Quirk::NoMessageType),
            (self.sender.is_absent(), Quirk::NoSender),
            (self.timestamp.is_absent(), Quirk::NoTimestamp),
            (!self.has_conversation, Quirk::NoConversation),
            (self.auth_token.is_absent(), Quirk::NoToken),
            (!self.protocol.is_absent() && self.protocol.as_text() != Some(PROTOCOL), Quirk::OddProtocol),
            (!self.timestamp.is_absent() && time.is_none(), Quirk::OddTime),
            (!self.sender.is_absent() && !sender_is_canonical, Quirk::OddSender),
        ];
        quirks.extend(found.into_iter().filter(|(applies, _)| *applies).map(|(_, quirk)| quirk));
        quirks.extend(time.and_then(|time| time.quirk));
    }

    fn words(&self) -> String {
        let texts = [&self.message, &self.hint, &self.error_description];
        texts.into_iter().find_map(Field::as_text).unwrap_or_default().chars().take(200).collect()
    }

    pub(super) fn peer_error(&self) -> Option<PeerError> {
        match &self.error {
            InnerValue::Object(error) => {
                let code = match &error.data {
                    InnerValue::Object(data) => data.error_code.as_text(),
                    InnerValue::Absent | InnerValue::Null | InnerValue::Text(_) | InnerValue::Other => None,
                };
                Some(PeerError {
                    number: error.code,
                    code: code.or(error.error_code.as_text()).map(SmolStr::new),
                    words: error.words(),
                })
            }
            InnerValue::Text(text) => {
                Some(PeerError { number: self.code, code: None, words: text.chars().take(200).collect() })
            }
            InnerValue::Other => Some(PeerError { number: self.code, ..PeerError::default() }),
            InnerValue::Absent | InnerValue::Null => {
                let says_so = self.is_called("LEAGUE_ERROR") || self.is_called("GAME_ERROR");
                (says_so || self.is_error == Some(true)).then(|| PeerError {
                    number: None,
                    code: self.error_code.as_text().map(SmolStr::new),
                    words: self.words(),
                })
            }
        }
    }
}
