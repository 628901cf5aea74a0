//! One object of an answer, with every field that any question looks for.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use smol_str::SmolStr;

use super::PeerError;
use crate::head::{PROTOCOL, WrittenTime};
use crate::loose;
use crate::quirk::{Quirk, Quirks};
use crate::sender::Sender;
use crate::token::Credential;

/// Where an object was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// The answer itself.
    Outside,
    /// A JSON-RPC result.
    Result,
    /// The `params` of what looks like a request.
    Params,
    /// MCP's structured content.
    Structured,
    /// JSON in a text block.
    Text,
    /// A `data` member.
    Data,
}

impl Place {
    pub(super) fn quirk(self) -> Option<Quirk> {
        match self {
            Self::Outside | Self::Result | Self::Structured => None,
            Self::Params => Some(Quirk::AnswerInParams),
            Self::Text => Some(Quirk::AnswerInText),
            Self::Data => Some(Quirk::AnswerInData),
        }
    }
}

/// A text, or something else in its place, or nothing.
#[derive(Clone, PartialEq, Eq, Default)]
pub(super) enum Word<'a> {
    #[default]
    Absent,
    Text(Cow<'a, str>),
    Other,
}

impl Word<'_> {
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Other => None,
        }
    }

    pub(super) fn parse<T: FromStr>(&self) -> Option<T> {
        self.as_text().and_then(|text| text.parse().ok())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Word<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Word<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Word<'de>, E> {
                Ok(Word::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Word<'de>, E> {
                Ok(Word::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_unit<E: Error>(self) -> Result<Word<'de>, E> {
                Ok(Word::Absent)
            }
            fn visit_bool<E: Error>(self, _: bool) -> Result<Word<'de>, E> {
                Ok(Word::Other)
            }
            fn visit_i64<E: Error>(self, _: i64) -> Result<Word<'de>, E> {
                Ok(Word::Other)
            }
            fn visit_u64<E: Error>(self, _: u64) -> Result<Word<'de>, E> {
                Ok(Word::Other)
            }
            fn visit_f64<E: Error>(self, _: f64) -> Result<Word<'de>, E> {
                Ok(Word::Other)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Word<'de>, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Word::Other)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Word<'de>, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Word::Other)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// An inner object, a text, or something that is neither.
#[derive(Default)]
enum Inner<'a> {
    #[default]
    Absent,
    Null,
    Object(Box<Layer<'a>>),
    Text(Cow<'a, str>),
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for Inner<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Inner<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Inner<'de>, A::Error> {
                let layer = Layer::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Inner::Object(Box::new(layer)))
            }
            /// The first text block of a list of content.
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Inner<'de>, A::Error> {
                let first = seq.next_element::<Inner<'de>>()?.unwrap_or_default();
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(match first {
                    Inner::Object(layer) => match layer.text {
                        Word::Text(text) => Inner::Text(text),
                        Word::Absent | Word::Other => Inner::Other,
                    },
                    Inner::Absent | Inner::Null | Inner::Text(_) | Inner::Other => Inner::Other,
                })
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Inner<'de>, E> {
                Ok(Inner::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Inner<'de>, E> {
                Ok(Inner::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_unit<E: Error>(self) -> Result<Inner<'de>, E> {
                Ok(Inner::Null)
            }
            fn visit_bool<E: Error>(self, _: bool) -> Result<Inner<'de>, E> {
                Ok(Inner::Other)
            }
            fn visit_i64<E: Error>(self, _: i64) -> Result<Inner<'de>, E> {
                Ok(Inner::Other)
            }
            fn visit_u64<E: Error>(self, _: u64) -> Result<Inner<'de>, E> {
                Ok(Inner::Other)
            }
            fn visit_f64<E: Error>(self, _: f64) -> Result<Inner<'de>, E> {
                Ok(Inner::Other)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// One object of an answer. Not printable: it may hold a token.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Layer<'a> {
    #[serde(borrow)]
    result: Inner<'a>,
    #[serde(borrow)]
    params: Inner<'a>,
    #[serde(borrow, rename = "structuredContent")]
    structured: Inner<'a>,
    #[serde(borrow)]
    content: Inner<'a>,
    #[serde(borrow)]
    data: Inner<'a>,
    #[serde(borrow)]
    error: Inner<'a>,
    #[serde(borrow)]
    method: Word<'a>,
    #[serde(borrow)]
    text: Word<'a>,
    #[serde(rename = "isError", deserialize_with = "loose::flag")]
    is_error: Option<bool>,

    #[serde(borrow)]
    message_type: Word<'a>,
    #[serde(borrow)]
    r#type: Word<'a>,
    #[serde(deserialize_with = "loose::flag")]
    accept: Option<bool>,
    #[serde(deserialize_with = "loose::flag")]
    accepted: Option<bool>,
    #[serde(deserialize_with = "loose::flag")]
    success: Option<bool>,
    #[serde(deserialize_with = "loose::flag")]
    pub(super) complete: Option<bool>,
    #[serde(borrow)]
    pub(super) status: Word<'a>,
    #[serde(borrow)]
    pub(super) parity_choice: Word<'a>,
    #[serde(borrow)]
    pub(super) choice: Word<'a>,
    #[serde(borrow, rename = "move")]
    pub(super) played: Word<'a>,
    #[serde(borrow)]
    pub(super) draw_nonce: Word<'a>,
    #[serde(borrow)]
    pub(super) match_id: Word<'a>,
    #[serde(borrow)]
    pub(super) game_id: Word<'a>,
    #[serde(borrow)]
    pub(super) player_id: Word<'a>,
    #[serde(borrow)]
    pub(super) referee_id: Word<'a>,
    #[serde(borrow)]
    pub(super) league_id: Word<'a>,
    #[serde(borrow)]
    pub(super) pass_scheme: Word<'a>,
    #[serde(deserialize_with = "loose::text")]
    pub(super) reason: Option<String>,
    #[serde(deserialize_with = "loose::number")]
    pub(super) reason_code: Option<i64>,
    #[serde(borrow)]
    protocol: Word<'a>,
    #[serde(borrow)]
    sender: Word<'a>,
    #[serde(borrow)]
    timestamp: Word<'a>,
    #[serde(borrow)]
    conversation_id: Word<'a>,
    #[serde(borrow)]
    auth_token: Word<'a>,
    #[serde(deserialize_with = "loose::number")]
    code: Option<i64>,
    #[serde(borrow)]
    message: Word<'a>,
    #[serde(borrow)]
    error_code: Word<'a>,
    #[serde(borrow)]
    error_description: Word<'a>,
    #[serde(borrow)]
    hint: Word<'a>,
    #[serde(skip)]
    pub(super) null_error: bool,
}

impl<'a> Layer<'a> {
    /// Reads an object. A list is none, although a derived reader would take its entries for fields in order.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        if text.trim_ascii_start().starts_with('{') { serde_json::from_str(text).ok() } else { None }
    }

    /// Lays this object and everything inside it side by side, outermost first.
    pub(super) fn unfold(mut self, place: Place, found: &mut Vec<(Place, Self)>) {
        self.null_error = matches!(self.error, Inner::Null);
        let looks_like_a_request = self.method != Word::Absent;
        let params = std::mem::take(&mut self.params);
        let inner = [
            (Place::Result, std::mem::take(&mut self.result)),
            (Place::Params, if looks_like_a_request { params } else { Inner::Absent }),
            (Place::Structured, std::mem::take(&mut self.structured)),
            (Place::Text, std::mem::take(&mut self.content)),
            (Place::Data, std::mem::take(&mut self.data)),
        ];
        if let (Some(true), Word::Absent, Inner::Text(text)) = (self.is_error, &self.message, &inner[3].1) {
            // A tool that fails says why in plain words.
            self.message = Word::Text(text.clone());
        }
        found.push((place, self));
        for (place, inner) in inner {
            match inner {
                Inner::Object(layer) => layer.unfold(place, found),
                // Read beside structured content too: that may hold the same text once more instead of an object.
                Inner::Text(text) if place == Place::Text => Self::unfold_text(&text, found),
                Inner::Text(_) | Inner::Absent | Inner::Null | Inner::Other => {}
            }
        }
    }

    /// JSON in a text block; a copy, because the text itself is inside a JSON string.
    fn unfold_text(text: &str, found: &mut Vec<(Place, Self)>) {
        let Some(layer) = Layer::read(text) else { return };
        let mut inside = Vec::new();
        // Text in text is read too: its depth is bounded, because each level doubles the escapes of the one inside.
        layer.unfold(Place::Text, &mut inside);
        found.extend(inside.into_iter().map(|(place, layer)| (place, layer.into_owned())));
    }

    fn into_owned(self) -> Layer<'static> {
        let own = |word: Word<'_>| -> Word<'static> {
            match word {
                Word::Text(text) => Word::Text(Cow::Owned(text.into_owned())),
                Word::Absent => Word::Absent,
                Word::Other => Word::Other,
            }
        };
        Layer {
            message_type: own(self.message_type),
            r#type: own(self.r#type),
            status: own(self.status),
            parity_choice: own(self.parity_choice),
            choice: own(self.choice),
            played: own(self.played),
            draw_nonce: own(self.draw_nonce),
            match_id: own(self.match_id),
            game_id: own(self.game_id),
            player_id: own(self.player_id),
            referee_id: own(self.referee_id),
            league_id: own(self.league_id),
            pass_scheme: own(self.pass_scheme),
            protocol: own(self.protocol),
            sender: own(self.sender),
            timestamp: own(self.timestamp),
            conversation_id: own(self.conversation_id),
            auth_token: own(self.auth_token),
            message: own(self.message),
            error_code: own(self.error_code),
            error_description: own(self.error_description),
            hint: own(self.hint),
            error: match self.error {
                Inner::Object(error) => Inner::Object(Box::new(error.into_owned())),
                Inner::Text(text) => Inner::Text(Cow::Owned(text.into_owned())),
                Inner::Absent => Inner::Absent,
                Inner::Null => Inner::Null,
                Inner::Other => Inner::Other,
            },
            accept: self.accept,
            accepted: self.accepted,
            success: self.success,
            complete: self.complete,
            is_error: self.is_error,
            reason: self.reason,
            reason_code: self.reason_code,
            code: self.code,
            null_error: self.null_error,
            // Taken apart by unfolding.
            result: Inner::Absent,
            params: Inner::Absent,
            structured: Inner::Absent,
            content: Inner::Absent,
            data: Inner::Absent,
            method: Word::Absent,
            text: Word::Absent,
        }
    }

    pub(super) fn is_called(&self, name: &str) -> bool {
        self.message_type.as_text() == Some(name) || self.r#type.as_text() == Some(name)
    }

    /// The match that the answer is for, where it names one.
    pub(super) fn named_match(&self) -> Option<&str> {
        let named = if self.match_id == Word::Absent { &self.game_id } else { &self.match_id };
        named.as_text()
    }

    /// `accept` or `accepted`; where both are given and differ, the refusal.
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

    /// Whether a registration was granted, where this says so. A mere `error` may be about the form of the request: it is a
    /// rejection only where it says that it answers a registration.
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

    /// What this says went wrong, where it says so by a status and in words alone.
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
        self.auth_token.as_text().filter(|text| !text.is_empty()).map(Credential::new)
    }

    pub(super) fn envelope_quirks(&self, quirks: &mut Quirks) {
        let absent = |word: &Word<'_>, quirk| (*word == Word::Absent).then_some(quirk);
        quirks.extend(absent(&self.protocol, Quirk::NoProtocol));
        quirks.extend(absent(&self.message_type, Quirk::NoMessageType));
        quirks.extend(absent(&self.sender, Quirk::NoSender));
        quirks.extend(absent(&self.timestamp, Quirk::NoTimestamp));
        quirks.extend(absent(&self.conversation_id, Quirk::NoConversation));
        quirks.extend(absent(&self.auth_token, Quirk::NoToken));
        let odd = |word: &Word<'_>, fine: bool, quirk| (*word != Word::Absent && !fine).then_some(quirk);
        quirks.extend(odd(&self.protocol, self.protocol.as_text() == Some(PROTOCOL), Quirk::OddProtocol));
        let written = self.timestamp.parse::<WrittenTime>();
        quirks.extend(odd(&self.timestamp, written.is_some(), Quirk::OddTime));
        quirks.extend(written.and_then(|written| written.quirk));
        let named = self.sender.parse::<Sender>().is_some_and(|sender| sender.is_canonical());
        quirks.extend(odd(&self.sender, named, Quirk::OddSender));
    }

    /// The peer's own words about what went wrong.
    fn words(&self) -> String {
        let said = [&self.message, &self.hint, &self.error_description].into_iter().find_map(Word::as_text);
        said.unwrap_or_default().chars().take(200).collect()
    }

    /// An error in any of its forms: JSON-RPC's member, a tool's flag, the league's own message.
    pub(super) fn peer_error(&self) -> Option<PeerError> {
        match &self.error {
            Inner::Object(error) => {
                let code = match &error.data {
                    Inner::Object(data) => data.error_code.as_text(),
                    Inner::Absent | Inner::Null | Inner::Text(_) | Inner::Other => None,
                };
                Some(PeerError {
                    number: error.code,
                    code: code.or(error.error_code.as_text()).map(SmolStr::new),
                    words: error.words(),
                })
            }
            Inner::Text(text) => {
                Some(PeerError { number: self.code, code: None, words: text.chars().take(200).collect() })
            }
            Inner::Other => Some(PeerError { number: self.code, ..PeerError::default() }),
            Inner::Absent | Inner::Null => {
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
