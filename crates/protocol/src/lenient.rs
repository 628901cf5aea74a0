//! Reads a field that foreign agents may write in any form: it is right, absent or bad, but never fails the message.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use smol_str::SmolStr;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Field<T> {
    #[default]
    Absent,
    Good(T),
    /// Another value; the beginning of it if it was a text.
    Bad(String),
}

impl<T> Field<T> {
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match self {
            Self::Absent => other,
            Self::Good(_) | Self::Bad(_) => self,
        }
    }

    pub fn good(self) -> Option<T> {
        match self {
            Self::Good(value) => Some(value),
            Self::Absent | Self::Bad(_) => None,
        }
    }

    pub fn as_good(&self) -> Option<&T> {
        match self {
            Self::Good(value) => Some(value),
            Self::Absent | Self::Bad(_) => None,
        }
    }

    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl Field<SmolStr> {
    pub(crate) fn as_text(&self) -> Option<&str> {
        self.as_good().map(SmolStr::as_str)
    }

    pub(crate) fn parse<T: FromStr>(&self) -> Option<T> {
        self.as_text().and_then(|text| text.parse().ok())
    }
}

/// Null counts as absent. A text that is no `T` is kept as bad.
impl<'de, T: FromStr> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_field(deserializer, Self::Absent)
    }
}

struct Scalar<R, T> {
    read: R,
    made: PhantomData<T>,
}

enum Raw<'a> {
    Text(&'a str),
    Number(i64),
    Flag(bool),
    Null,
    Other,
}

impl<'de, T, R: FnOnce(Raw<'_>) -> T> Visitor<'de> for Scalar<R, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        Ok((self.read)(Raw::Text(text)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        Ok((self.read)(i64::try_from(number).map_or(Raw::Other, Raw::Number)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        Ok((self.read)(Raw::Number(number)))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<T, E> {
        Ok((self.read)(Raw::Other))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<T, E> {
        Ok((self.read)(Raw::Flag(flag)))
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok((self.read)(Raw::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok((self.read)(Raw::Other))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok((self.read)(Raw::Other))
    }
}

impl<'de, T, R: FnOnce(Raw<'_>) -> T> DeserializeSeed<'de> for Scalar<R, T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }
}

fn scalar<'de, D: Deserializer<'de>, T>(deserializer: D, read: impl FnOnce(Raw<'_>) -> T) -> Result<T, D::Error> {
    Scalar { read, made: PhantomData }.deserialize(deserializer)
}

/// Null is bad rather than absent.
pub(crate) fn not_null<'de, D: Deserializer<'de>, T: FromStr>(deserializer: D) -> Result<Field<T>, D::Error> {
    read_field(deserializer, Field::Bad(String::from("null")))
}

fn read_field<'de, D: Deserializer<'de>, T: FromStr>(deserializer: D, null: Field<T>) -> Result<Field<T>, D::Error> {
    scalar(deserializer, |raw| match raw {
        Raw::Null => null,
        Raw::Text(text) => text.parse().map_or_else(|_| Field::Bad(text.chars().take(64).collect()), Field::Good),
        Raw::Number(number) => Field::Bad(number.to_string()),
        Raw::Flag(flag) => Field::Bad(flag.to_string()),
        Raw::Other => Field::Bad(String::from("not a text")),
    })
}

pub(crate) fn text<'de, D: Deserializer<'de>, T: FromStr>(deserializer: D) -> Result<Option<T>, D::Error> {
    scalar(deserializer, |raw| match raw {
        Raw::Text(text) => text.parse().ok(),
        Raw::Null | Raw::Number(_) | Raw::Flag(_) | Raw::Other => None,
    })
}

pub(crate) fn number<'de, D: Deserializer<'de>, T: TryFrom<i64>>(deserializer: D) -> Result<Option<T>, D::Error> {
    scalar(deserializer, |raw| match raw {
        Raw::Number(number) => number.try_into().ok(),
        Raw::Text(_) | Raw::Null | Raw::Flag(_) | Raw::Other => None,
    })
}

pub(crate) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    scalar(deserializer, |raw| match raw {
        Raw::Flag(flag) => Some(flag),
        Raw::Text(_) | Raw::Null | Raw::Number(_) | Raw::Other => None,
    })
}

/// False for null.
pub(crate) fn is_given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    scalar(deserializer, |raw| !matches!(raw, Raw::Null))
}

/// Zero if unreadable: a bad count must not fail the request around it.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    number(deserializer).map(Option::unwrap_or_default)
}

pub(crate) fn text_or_default<'de, D: Deserializer<'de>, T: FromStr + Default>(deserializer: D) -> Result<T, D::Error> {
    text(deserializer).map(Option::unwrap_or_default)
}

pub(crate) fn value<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

pub(crate) fn value_or_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    value(deserializer).map(Option::unwrap_or_default)
}

/// Null counts as absent.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PlayerId;

    #[test]
    fn a_value_of_another_shape_is_none() {
        let read = |json: &str| value::<_, [u8; 2]>(&mut serde_json::Deserializer::from_str(json)).unwrap();
        assert_eq!(read("[1, 2]"), Some([1, 2]));
        for other in ["null", "[1]", "[1,2,3]", "[1,256]", "{\"a\":[1,2]}", "\"[1,2]\"", "true"] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn a_field_is_good_absent_or_bad_and_never_fails_the_message() {
        let read = |json: &str| serde_json::from_str::<Field<PlayerId>>(json).unwrap();
        assert_eq!(read("\"P01\""), Field::Good(PlayerId::numbered(1)));
        assert_eq!(read("null"), Field::Absent);
        assert_eq!(read("7"), Field::Bad("7".into()));
        for other in ["[1,[2]]", "{\"a\":{\"b\":1}}", "1.5", "true", "\"a/b\"", "18446744073709551615"] {
            assert!(matches!(read(other), Field::Bad(_)), "{other}");
        }
    }
}
