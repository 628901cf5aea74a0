//! One type per kind of id, so that ids cannot be mixed up. Other leagues have other ids than `P01`, and our players play there too,
//! so an id is any text of at most [`MAX_ID`] bytes in a safe alphabet. It has no `/` and no leading dot: an id can be a file name.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use smol_str::{SmolStr, format_smolstr};
use thiserror::Error;

use crate::text::parsed;

/// In bytes.
pub const MAX_ID: usize = 64;

/// In bytes.
pub const MAX_CONVERSATION: usize = 128;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadId {
    #[error("an id has 1 to {limit} characters, this one has {length}")]
    Length { length: usize, limit: usize },
    /// A character that could mislead a file system, a log or a page.
    #[error("an id has letters, digits and `_ - : .` and does not begin with a dot; found {found:?}")]
    Character { found: char },
}

fn checked(text: &str) -> Result<SmolStr, BadId> {
    if text.is_empty() || text.len() > MAX_ID {
        return Err(BadId::Length { length: text.len(), limit: MAX_ID });
    }
    if text.starts_with('.') {
        return Err(BadId::Character { found: '.' });
    }
    match text.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':' | '.'))) {
        Some(found) => Err(BadId::Character { found }),
        None => Ok(SmolStr::new(text)),
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
        #[schemars(with = "String")]
        pub struct $name(SmolStr);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                parsed(deserializer)
            }
        }

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                $check(text).map(Self)
            }
        }

        impl TryFrom<SmolStr> for $name {
            type Error = BadId;
            fn try_from(text: SmolStr) -> Result<Self, BadId> {
                $check(&text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        /// Shorter first, so that `P99` precedes `P100`.
        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
    };
}

text_id!(
    /// A player: `P01`, `P02`, … `P100`, ….
    PlayerId, checked);
text_id!(
    /// A referee: `REF01`, `REF02`, ….
    RefereeId, checked);
text_id!(
    /// A match: `R1M1` is the first match of the first round.
    MatchId, checked);
text_id!(
    /// A league, such as `league_2025_even_odd`.
    LeagueId, checked);
text_id!(
    /// A kind of game, such as `even_odd`.
    GameType, checked);
text_id!(
    /// What belongs together: every message of one match carries the same one, and an answer echoes its question's.
    ConversationId, conversation);

/// The starter of a conversation chooses its name freely; it must be short and printable.
fn conversation(text: &str) -> Result<SmolStr, BadId> {
    if text.is_empty() || text.len() > MAX_CONVERSATION {
        return Err(BadId::Length { length: text.len(), limit: MAX_CONVERSATION });
    }
    match text.chars().find(|c| c.is_control()) {
        Some(found) => Err(BadId::Character { found }),
        None => Ok(SmolStr::new(text)),
    }
}

/// Accepts only the canonical form: at least two digits, no needless zero.
fn numbered(prefix: &str, text: &str) -> Option<u32> {
    let digits = text.strip_prefix(prefix)?;
    let padded = digits.len() == 2 || (digits.len() > 2 && !digits.starts_with('0'));
    (padded && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok()).flatten().filter(|n| *n > 0)
}

impl PlayerId {
    pub fn numbered(number: u32) -> Self {
        Self(format_smolstr!("P{number:02}"))
    }

    pub fn number(&self) -> Option<u32> {
        numbered("P", &self.0)
    }
}

impl RefereeId {
    pub fn numbered(number: u32) -> Self {
        Self(format_smolstr!("REF{number:02}"))
    }

    pub fn number(&self) -> Option<u32> {
        numbered("REF", &self.0)
    }
}

impl MatchId {
    pub fn of(round: RoundId, number: u32) -> Self {
        Self(format_smolstr!("R{round}M{number}"))
    }

    pub fn parts(&self) -> Option<(RoundId, u32)> {
        let (round, rest) = leading(self.0.as_bytes().strip_prefix(b"R")?)?;
        let (number, rest) = leading(rest.strip_prefix(b"M")?)?;
        rest.is_empty().then_some((RoundId(round), number))
    }
}

fn leading(text: &[u8]) -> Option<(u32, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at(digits);
    if number.is_empty() || number.starts_with(b"0") {
        return None;
    }
    let add = |sum: u32, digit: &u8| sum.checked_mul(10)?.checked_add(u32::from(digit - b'0'));
    Some((number.iter().try_fold(0, add)?, rest))
}

impl GameType {
    pub fn even_odd() -> Self {
        Self(SmolStr::new_static("even_odd"))
    }
}

impl ConversationId {
    /// Cuts `name` to the limit; for names of our own.
    pub fn named(name: impl fmt::Display) -> Self {
        let text = format_smolstr!("{name}");
        let mut end = text.len().min(MAX_CONVERSATION);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Self(SmolStr::new(&text[..end]))
    }
}

/// A round, counted from one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RoundId(pub u32);

impl TryFrom<i64> for RoundId {
    type Error = std::num::TryFromIntError;
    fn try_from(number: i64) -> Result<Self, Self::Error> {
        number.try_into().map(Self)
    }
}

impl fmt::Display for RoundId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_at_least_two_digits() {
        for (number, text) in [(1, "P01"), (9, "P09"), (10, "P10"), (99, "P99"), (100, "P100"), (1000, "P1000")] {
            assert_eq!(PlayerId::numbered(number).as_str(), text);
            assert_eq!(text.parse::<PlayerId>().unwrap().number(), Some(number));
        }
        for odd in ["P1", "P001", "P00", "P", "p01", "P0x", "REF01", "P-1", "P99999999999"] {
            assert_eq!(odd.parse::<PlayerId>().unwrap().number(), None, "{odd}");
        }
        assert_eq!(RefereeId::numbered(1).as_str(), "REF01");
    }

    #[test]
    fn ids_are_ordered_by_number() {
        assert!(PlayerId::numbered(99) < PlayerId::numbered(100));
        assert!(PlayerId::numbered(2) < PlayerId::numbered(10));
    }

    #[test]
    fn a_match_id_names_its_round() {
        let id = MatchId::of(RoundId(12), 3);
        assert_eq!(id.as_str(), "R12M3");
        assert_eq!(id.parts(), Some((RoundId(12), 3)));
        for odd in ["R0M1", "R1M", "RM1", "R1M01", "match-7", "R1M1M1"] {
            assert_eq!(odd.parse::<MatchId>().unwrap().parts(), None, "{odd}");
        }
    }

    #[test]
    fn an_id_can_be_a_file_name() {
        for bad in ["", ".", "..", "../x", "a/b", "a\\b", "a b", "ä", "a\0", &"x".repeat(65)] {
            assert!(bad.parse::<PlayerId>().is_err(), "{bad:?}");
        }
    }
}
