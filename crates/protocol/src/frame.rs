use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};
use serde_json::Number;
use smol_str::SmolStr;

/// An answer uses the frame of its request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Frame {
    /// A, the canonical frame: JSON-RPC, `method` is the tool's name, `params` the message.
    Direct,
    /// B: JSON-RPC, `method` is the message's type.
    Typed,
    /// C: MCP `tools/call`.
    Tool,
    /// D: the message itself, without JSON-RPC.
    Bare,
    /// E: JSON-RPC, the message in `params.message`.
    Nested,
    /// R: flat fields posted to `/register`.
    Register,
}

impl Frame {
    pub const ALL: [Self; 6] = [Self::Direct, Self::Typed, Self::Tool, Self::Bare, Self::Nested, Self::Register];

    /// The letter in the documents.
    pub fn letter(self) -> char {
        match self {
            Self::Direct => 'A',
            Self::Typed => 'B',
            Self::Tool => 'C',
            Self::Bare => 'D',
            Self::Nested => 'E',
            Self::Register => 'R',
        }
    }

    pub fn is_rpc(self) -> bool {
        match self {
            Self::Direct | Self::Typed | Self::Tool | Self::Nested => true,
            Self::Bare | Self::Register => false,
        }
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}

/// Absent and null differ: a request without an id expects no answer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum RequestId {
    #[default]
    Absent,
    /// JSON-RPC allows `null`, MCP does not.
    Null,
    Number(Number),
    Text(SmolStr),
}

impl From<u64> for RequestId {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent | Self::Null => serializer.serialize_unit(),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Id;
        impl Visitor<'_> for Id {
            type Value = RequestId;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id: a number, a text or null")
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<RequestId, E> {
                Ok(RequestId::Number(number.into()))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<RequestId, E> {
                Ok(RequestId::Number(number.into()))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<RequestId, E> {
                Number::from_f64(number).map(RequestId::Number).ok_or_else(|| E::custom("an id is a finite number"))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<RequestId, E> {
                Ok(RequestId::Text(SmolStr::new(text)))
            }
            fn visit_unit<E: Error>(self) -> Result<RequestId, E> {
                Ok(RequestId::Null)
            }
        }
        deserializer.deserialize_any(Id)
    }
}
