//! The envelope: the fields that every message has beside its own. `EnvelopeSplitter` separates them in one pass without copies, so
//! a body derives `Deserialize` as if there were no envelope.
//! Reading the envelope never fails; [`ReceivedEnvelope::check`] applies the requirements afterwards.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer, StringDeserializer};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::error::{ErrorCode, RequestError};
use crate::id::{ConversationId, MAX_CONVERSATION};
use crate::lenient::Field;
use crate::quirk::{Quirk, Quirks};
use crate::sender::Sender;
use crate::table::Method;
use crate::time::{BadTimestamp, Timestamp};
use crate::token::Credential;

pub const PROTOCOL: &str = "league.v2";

/// The envelope of a message that we send. Its `protocol` and `message_type` come from the call table.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Envelope {
    /// Like `referee:REF01` or `player:P01`.
    pub sender: Sender,
    /// When, in UTC.
    pub timestamp: Timestamp,
    /// An answer echoes its question's.
    pub conversation_id: ConversationId,
    /// The sender's token or pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_token: Option<Credential>,
}

#[derive(Clone, Debug, Default)]
pub struct ReceivedEnvelope {
    pub protocol: Field<Protocol>,
    pub message_type: Field<SmolStr>,
    pub sender: Field<Sender>,
    pub timestamp: Field<WrittenTime>,
    pub conversation_id: Field<ConversationId>,
    /// `None` if absent or empty.
    pub auth_token: Option<Credential>,
    pub empty_token: bool,
    /// The message names its match only as `game_id`.
    pub game_id_alone: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EnvelopeRule {
    Complete,
    /// Present fields must be right; a missing one is a quirk.
    Lenient,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Protocol;

impl FromStr for Protocol {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        if text == PROTOCOL { Ok(Self) } else { Err(()) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WrittenTime {
    pub time: Timestamp,
    /// Set if the form is not canonical.
    pub quirk: Option<Quirk>,
}

impl FromStr for WrittenTime {
    type Err = BadTimestamp;
    fn from_str(text: &str) -> Result<Self, BadTimestamp> {
        let quirk = match (Timestamp::is_fractional(text), text.ends_with('Z')) {
            (true, _) => Some(Quirk::FractionalTime),
            (false, false) => Some(Quirk::OffsetTime),
            (false, true) => None,
        };
        Ok(Self { time: text.parse()?, quirk })
    }
}

impl ReceivedEnvelope {
    pub fn check(&self, method: Method, demand: EnvelopeRule) -> Result<Quirks, RequestError> {
        let mut quirks = Quirks::default();
        if self.game_id_alone {
            quirks.note(Quirk::GameIdField);
        }
        let missing = |field: &'static str, quirk: Quirk, quirks: &mut Quirks| match demand {
            EnvelopeRule::Lenient => {
                quirks.note(quirk);
                Ok(())
            }
            EnvelopeRule::Complete => {
                Err(RequestError::new(ErrorCode::E003, method, format!("{field} is missing; {}", quirk.advice()))
                    .about(field))
            }
        };
        match &self.protocol {
            Field::Good(Protocol) => {}
            Field::Absent => missing("protocol", Quirk::NoProtocol, &mut quirks)?,
            Field::Bad(found) => {
                let message = format!("protocol is {found:?}; this league speaks {PROTOCOL}: send that");
                return Err(RequestError::new(ErrorCode::E018, method, message).about("protocol"));
            }
        }
        match &self.message_type {
            Field::Good(name) if method.is_called(name) => {}
            Field::Good(name) => match demand {
                EnvelopeRule::Lenient => quirks.note(Quirk::OddMessageType),
                EnvelopeRule::Complete => {
                    let row = method.row();
                    let expected = row.message.unwrap_or(row.name);
                    let message = format!("message_type is {name:?}, and the method is {}; send {expected}", row.name);
                    return Err(RequestError::new(ErrorCode::E002, method, message).about("message_type"));
                }
            },
            // A row without a message type requires none.
            Field::Absent if method.row().message.is_none() => {}
            Field::Absent => missing("message_type", Quirk::NoMessageType, &mut quirks)?,
            Field::Bad(found) => return Err(wrong("message_type", found, "a text", method)),
        }
        match &self.sender {
            Field::Good(sender) if !sender.is_canonical() => quirks.note(Quirk::OddSender),
            Field::Good(_) => {}
            Field::Absent => missing("sender", Quirk::NoSender, &mut quirks)?,
            Field::Bad(found) => return Err(wrong("sender", found, "a text like player:P01", method)),
        }
        match &self.timestamp {
            Field::Good(written) => quirks.extend(written.quirk),
            Field::Absent => missing("timestamp", Quirk::NoTimestamp, &mut quirks)?,
            Field::Bad(found) => {
                let bad = BadTimestamp { found: found.clone() };
                return Err(RequestError::new(ErrorCode::E021, method, bad.to_string()).about("timestamp"));
            }
        }
        match &self.conversation_id {
            Field::Good(_) => {}
            Field::Absent => missing("conversation_id", Quirk::NoConversation, &mut quirks)?,
            Field::Bad(found) => {
                let allowed = format!("a text of 1 to {MAX_CONVERSATION} printable characters");
                return Err(wrong("conversation_id", found, &allowed, method));
            }
        }
        Ok(quirks)
    }

    pub fn token(&self, method: Method) -> Result<&Credential, RequestError> {
        self.auth_token.as_ref().ok_or_else(|| {
            let message = "auth_token is missing; send the token that your registration was answered with";
            RequestError::new(ErrorCode::E011, method, message).about("auth_token")
        })
    }

    fn read<'de, A: MapAccess<'de>>(&mut self, field: HeadField, map: &mut A) -> Result<(), A::Error> {
        match field {
            HeadField::Protocol => self.protocol = map.next_value()?,
            HeadField::MessageType => self.message_type = map.next_value()?,
            HeadField::Sender => self.sender = map.next_value()?,
            HeadField::Timestamp => self.timestamp = map.next_value()?,
            HeadField::ConversationId => self.conversation_id = map.next_value()?,
            HeadField::AuthToken => {
                let text: Field<SmolStr> = map.next_value()?;
                let text = text.good();
                self.empty_token = text.as_ref().is_some_and(SmolStr::is_empty);
                self.auth_token = text.filter(|text| !text.is_empty()).map(|text| Credential::new(&text));
            }
        }
        Ok(())
    }
}

fn wrong(field: &'static str, found: &str, allowed: &str, method: Method) -> RequestError {
    RequestError::new(ErrorCode::E002, method, format!("{field} is {found:?}; send {allowed}")).about(field)
}

const MATCH_ID: &str = "match_id";

#[derive(Clone, Copy)]
enum HeadField {
    Protocol,
    MessageType,
    Sender,
    Timestamp,
    ConversationId,
    AuthToken,
}

/// A key of the envelope, `message` (may hold a nested message), `game_id`, or a key of the body.
enum Key<'de> {
    Head(HeadField),
    Nested,
    GameId,
    Body(Cow<'de, str>),
}

struct KeySeed;

impl KeySeed {
    fn known<'de>(text: &str) -> Option<Key<'de>> {
        Some(match text {
            "protocol" => Key::Head(HeadField::Protocol),
            "message_type" => Key::Head(HeadField::MessageType),
            "sender" => Key::Head(HeadField::Sender),
            "timestamp" => Key::Head(HeadField::Timestamp),
            "conversation_id" => Key::Head(HeadField::ConversationId),
            "auth_token" => Key::Head(HeadField::AuthToken),
            "message" => Key::Nested,
            "game_id" => Key::GameId,
            _ => return None,
        })
    }
}

impl<'de> Visitor<'de> for KeySeed {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field name")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Key<'de>, E> {
        Ok(Self::known(text).unwrap_or(Key::Body(Cow::Borrowed(text))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Key<'de>, E> {
        Ok(Self::known(text).unwrap_or_else(|| Key::Body(Cow::Owned(text.to_owned()))))
    }
}

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key<'de>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key<'de>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

/// A map that shows the body its own fields and stores the envelope's.
pub(crate) struct EnvelopeSplitter<'h, 'de, A> {
    map: A,
    head: &'h mut ReceivedEnvelope,
    /// The value of `message`, which is a whole message in frame E.
    nested: &'h mut Option<&'de RawValue>,
    /// Shown to the body as `match_id` if it has none.
    game_id: Option<&'de RawValue>,
    names_match: bool,
    shows_game_id: bool,
}

impl<'h, 'de, A: MapAccess<'de>> EnvelopeSplitter<'h, 'de, A> {
    pub(crate) fn read<B: Deserialize<'de>>(
        map: A,
        head: &'h mut ReceivedEnvelope,
        nested: &'h mut Option<&'de RawValue>,
    ) -> Result<B, A::Error> {
        B::deserialize(MapAccessDeserializer::new(Self {
            map,
            head,
            nested,
            game_id: None,
            names_match: false,
            shows_game_id: false,
        }))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for EnvelopeSplitter<'_, 'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        loop {
            match self.map.next_key_seed(KeySeed)? {
                None if self.names_match || self.game_id.is_none() || self.shows_game_id => return Ok(None),
                None => {
                    (self.shows_game_id, self.head.game_id_alone) = (true, true);
                    return seed.deserialize(BorrowedStrDeserializer::new(MATCH_ID)).map(Some);
                }
                Some(Key::Head(field)) => self.head.read(field, &mut self.map)?,
                Some(Key::Nested) => *self.nested = Some(self.map.next_value()?),
                Some(Key::GameId) => self.game_id = Some(self.map.next_value()?),
                Some(Key::Body(Cow::Borrowed(key))) => {
                    self.names_match |= key == MATCH_ID;
                    return seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some);
                }
                Some(Key::Body(Cow::Owned(key))) => {
                    self.names_match |= key == MATCH_ID;
                    return seed.deserialize(StringDeserializer::new(key)).map(Some);
                }
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match self.game_id.filter(|_| self.shows_game_id) {
            Some(raw) => seed.deserialize(raw).map_err(A::Error::custom),
            None => self.map.next_value_seed(seed),
        }
    }
}
