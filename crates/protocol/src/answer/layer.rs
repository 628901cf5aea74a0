use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use smol_str::SmolStr;

use super::PeerError;
use crate::envelope::{PROTOCOL, WrittenTime};
use crate::lenient;
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

#[derive(Clone, PartialEq, Eq, Default)]
pub(super) enum TextField<'a> {
    #[default]
    Absent,
    Text(Cow<'a, str>),
    Other,
}

impl TextField<'_> {
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

impl<'de: 'a, 'a> Deserialize<'de> for TextField<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = TextField<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<TextField<'de>, E> {
                Ok(TextField::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<TextField<'de>, E> {
                Ok(TextField::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_unit<E: Error>(self) -> Result<TextField<'de>, E> {
                Ok(TextField::Absent)
            }
            fn visit_bool<E: Error>(self, _: bool) -> Result<TextField<'de>, E> {
                Ok(TextField::Other)
            }
            fn visit_i64<E: Error>(self, _: i64) -> Result<TextField<'de>, E> {
                Ok(TextField::Other)
            }
            fn visit_u64<E: Error>(self, _: u64) -> Result<TextField<'de>, E> {
                Ok(TextField::Other)
            }
            fn visit_f64<E: Error>(self, _: f64) -> Result<TextField<'de>, E> {
                Ok(TextField::Other)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<TextField<'de>, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(TextField::Other)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TextField<'de>, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(TextField::Other)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[derive(Default)]
enum InnerValue<'a> {
    #[default]
    Absent,
    Null,
    Object(Box<Layer<'a>>),
    Text(Cow<'a, str>),
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for InnerValue<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = InnerValue<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<InnerValue<'de>, A::Error> {
                let layer = Layer::deserialize(MapAccessDeserializer::new(map))?;
                Ok(InnerValue::Object(Box::new(layer)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<InnerValue<'de>, A::Error> {
                let first = seq.next_element::<InnerValue<'de>>()?.unwrap_or_default();
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(match first {
                    InnerValue::Object(layer) => match layer.text {
                        TextField::Text(text) => InnerValue::Text(text),
                        TextField::Absent | TextField::Other => InnerValue::Other,
                    },
                    InnerValue::Absent | InnerValue::Null | InnerValue::Text(_) | InnerValue::Other => {
                        InnerValue::Other
                    }
                })
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<InnerValue<'de>, E> {
                Ok(InnerValue::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<InnerValue<'de>, E> {
                Ok(InnerValue::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_unit<E: Error>(self) -> Result<InnerValue<'de>, E> {
                Ok(InnerValue::Null)
            }
            fn visit_bool<E: Error>(self, _: bool) -> Result<InnerValue<'de>, E> {
                Ok(InnerValue::Other)
            }
            fn visit_i64<E: Error>(self, _: i64) -> Result<InnerValue<'de>, E> {
                Ok(InnerValue::Other)
            }
            fn visit_u64<E: Error>(self, _: u64) -> Result<InnerValue<'de>, E> {
                Ok(InnerValue::Other)
            }
            fn visit_f64<E: Error>(self, _: f64) -> Result<InnerValue<'de>, E> {
                Ok(InnerValue::Other)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// Has no `Debug`, because it may hold a token.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Layer<'a> {
    #[serde(borrow)]
    result: InnerValue<'a>,
    #[serde(borrow)]
    params: InnerValue<'a>,
    #[serde(borrow, rename = "structuredContent")]
    structured: InnerValue<'a>,
    #[serde(borrow)]
    content: InnerValue<'a>,
    #[serde(borrow)]
    data: InnerValue<'a>,
    #[serde(borrow)]
    error: InnerValue<'a>,
    #[serde(borrow)]
    method: TextField<'a>,
    #[serde(borrow)]
    text: TextField<'a>,
    #[serde(rename = "isError", deserialize_with = "lenient::flag")]
    is_error: Option<bool>,

    #[serde(borrow)]
    message_type: TextField<'a>,
    #[serde(borrow)]
    r#type: TextField<'a>,
    #[serde(deserialize_with = "lenient::flag")]
    accept: Option<bool>,
    #[serde(deserialize_with = "lenient::flag")]
    accepted: Option<bool>,
    #[serde(deserialize_with = "lenient::flag")]
    success: Option<bool>,
    #[serde(deserialize_with = "lenient::flag")]
    pub(super) complete: Option<bool>,
    #[serde(borrow)]
    pub(super) status: TextField<'a>,
    #[serde(borrow)]
    pub(super) parity_choice: TextField<'a>,
    #[serde(borrow)]
    pub(super) choice: TextField<'a>,
    #[serde(borrow, rename = "move")]
    pub(super) played: TextField<'a>,
    #[serde(borrow)]
    pub(super) draw_nonce: TextField<'a>,
    #[serde(borrow)]
    pub(super) match_id: TextField<'a>,
    #[serde(borrow)]
    pub(super) game_id: TextField<'a>,
    #[serde(borrow)]
    pub(super) player_id: TextField<'a>,
    #[serde(borrow)]
    pub(super) referee_id: TextField<'a>,
    #[serde(borrow)]
    pub(super) league_id: TextField<'a>,
    #[serde(borrow)]
    pub(super) pass_scheme: TextField<'a>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) reason: Option<String>,
    #[serde(deserialize_with = "lenient::number")]
    pub(super) reason_code: Option<i64>,
    #[serde(borrow)]
    protocol: TextField<'a>,
    #[serde(borrow)]
    sender: TextField<'a>,
    #[serde(borrow)]
    timestamp: TextField<'a>,
    #[serde(borrow)]
    conversation_id: TextField<'a>,
    #[serde(borrow)]
    auth_token: TextField<'a>,
    #[serde(deserialize_with = "lenient::number")]
    code: Option<i64>,
    #[serde(borrow)]
    message: TextField<'a>,
    #[serde(borrow)]
    error_code: TextField<'a>,
    #[serde(borrow)]
    error_description: TextField<'a>,
    #[serde(borrow)]
    hint: TextField<'a>,
    #[serde(skip)]
    pub(super) null_error: bool,
}

impl<'a> Layer<'a> {
    /// Rejects a list, because a derived reader would take its entries as fields in order.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        if text.trim_ascii_start().starts_with('{') { serde_json::from_str(text).ok() } else { None }
    }

    /// Flattens this object and the objects inside it, outermost first.
    pub(super) fn unfold(mut self, place: LayerPath, found: &mut Vec<(LayerPath, Self)>) {
        self.null_error = matches!(self.error, InnerValue::Null);
        let looks_like_a_request = self.method != TextField::Absent;
        let params = std::mem::take(&mut self.params);
        let inner = [
            (LayerPath::Result, std::mem::take(&mut self.result)),
            (LayerPath::Params, if looks_like_a_request { params } else { InnerValue::Absent }),
            (LayerPath::Structured, std::mem::take(&mut self.structured)),
            (LayerPath::Text, std::mem::take(&mut self.content)),
            (LayerPath::Data, std::mem::take(&mut self.data)),
        ];
        if let (Some(true), TextField::Absent, InnerValue::Text(text)) = (self.is_error, &self.message, &inner[3].1) {
            // A tool that fails says why in its text.
            self.message = TextField::Text(text.clone());
        }
        found.push((place, self));
        for (place, inner) in inner {
            match inner {
                InnerValue::Object(layer) => layer.unfold(place, found),
                // Also beside structured content, which may repeat the text instead of an object.
                InnerValue::Text(text) if place == LayerPath::Text => Self::unfold_text(&text, found),
                InnerValue::Text(_) | InnerValue::Absent | InnerValue::Null | InnerValue::Other => {}
            }
        }
    }

    /// Copies, because the JSON is inside a JSON string.
    fn unfold_text(text: &str, found: &mut Vec<(LayerPath, Self)>) {
        let Some(layer) = Layer::read(text) else { return };
        let mut inside = Vec::new();
        // Nested text is read too. Its depth is bounded, because each level doubles the escapes.
        layer.unfold(LayerPath::Text, &mut inside);
        found.extend(inside.into_iter().map(|(place, layer)| (place, layer.into_owned())));
    }

    fn into_owned(self) -> Layer<'static> {
        let own = |word: TextField<'_>| -> TextField<'static> {
            match word {
                TextField::Text(text) => TextField::Text(Cow::Owned(text.into_owned())),
                TextField::Absent => TextField::Absent,
                TextField::Other => TextField::Other,
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
                InnerValue::Object(error) => InnerValue::Object(Box::new(error.into_owned())),
                InnerValue::Text(text) => InnerValue::Text(Cow::Owned(text.into_owned())),
                InnerValue::Absent => InnerValue::Absent,
                InnerValue::Null => InnerValue::Null,
                InnerValue::Other => InnerValue::Other,
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
            // `unfold` has taken these.
            result: InnerValue::Absent,
            params: InnerValue::Absent,
            structured: InnerValue::Absent,
            content: InnerValue::Absent,
            data: InnerValue::Absent,
            method: TextField::Absent,
            text: TextField::Absent,
        }
    }

    pub(super) fn is_called(&self, name: &str) -> bool {
        self.message_type.as_text() == Some(name) || self.r#type.as_text() == Some(name)
    }

    pub(super) fn named_match(&self) -> Option<&str> {
        let named = if self.match_id == TextField::Absent { &self.game_id } else { &self.match_id };
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
        self.auth_token.as_text().filter(|text| !text.is_empty()).map(Credential::new)
    }

    pub(super) fn envelope_quirks(&self, quirks: &mut Quirks) {
        let absent = |word: &TextField<'_>, quirk| (*word == TextField::Absent).then_some(quirk);
        quirks.extend(absent(&self.protocol, Quirk::NoProtocol));
        quirks.extend(absent(&self.message_type, Quirk::NoMessageType));
        quirks.extend(absent(&self.sender, Quirk::NoSender));
        quirks.extend(absent(&self.timestamp, Quirk::NoTimestamp));
        quirks.extend(absent(&self.conversation_id, Quirk::NoConversation));
        quirks.extend(absent(&self.auth_token, Quirk::NoToken));
        let odd = |word: &TextField<'_>, fine: bool, quirk| (*word != TextField::Absent && !fine).then_some(quirk);
        quirks.extend(odd(&self.protocol, self.protocol.as_text() == Some(PROTOCOL), Quirk::OddProtocol));
        let written = self.timestamp.parse::<WrittenTime>();
        quirks.extend(odd(&self.timestamp, written.is_some(), Quirk::OddTime));
        quirks.extend(written.and_then(|written| written.quirk));
        let named = self.sender.parse::<Sender>().is_some_and(|sender| sender.is_canonical());
        quirks.extend(odd(&self.sender, named, Quirk::OddSender));
    }

    fn words(&self) -> String {
        let said = [&self.message, &self.hint, &self.error_description].into_iter().find_map(TextField::as_text);
        said.unwrap_or_default().chars().take(200).collect()
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
