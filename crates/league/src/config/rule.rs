//! What a value must be: the test and the words for it in one place, for files, variables and flags alike.

use std::fmt::Display;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::str::FromStr;

use league_core::rules::registry::known_games;
use league_player::strategy::registry::{strategies, strategy};
use league_protocol::id::{BadId, GameType};
use league_wire::endpoint::Endpoint;
use serde_json::Value;
use smol_str::SmolStr;

use super::error::ConfigError;
use super::network::Ports;

/// The longest name that tables show.
const MAX_NAME: usize = 128;

/// How many characters of a wrong value are shown.
const SHOWN: usize = 60;

/// What a value means; nothing when it will not do.
type Read<T> = dyn Fn(&Value) -> Option<T>;

pub(super) struct Rule<T> {
    read: Box<Read<T>>,
    allowed: String,
}

impl<T: 'static> Rule<T> {
    fn new(allowed: impl Into<String>, read: impl Fn(&Value) -> Option<T> + 'static) -> Self {
        Self { read: Box::new(read), allowed: allowed.into() }
    }

    /// The same values, made into something else.
    pub(super) fn map<U: 'static>(self, make: impl Fn(T) -> U + 'static) -> Rule<U> {
        Rule { read: Box::new(move |value| (self.read)(value).map(&make)), allowed: self.allowed }
    }
}

impl<T> Rule<T> {
    pub(super) fn allowed(&self) -> &str {
        &self.allowed
    }

    /// What a value in a file means.
    pub(super) fn value(&self, setting: impl FnOnce() -> String, value: &Value) -> Result<T, ConfigError> {
        (self.read)(value).ok_or_else(|| wrong(setting(), value, &self.allowed))
    }

    /// What a text means, taken as it stands, or else as the JSON that it may be: `30` is a number.
    pub(super) fn parse(&self, text: &str) -> Option<T> {
        let plain = (self.read)(&Value::from(text));
        plain.or_else(|| serde_json::from_str(text).ok().and_then(|value| (self.read)(&value)))
    }

    /// What the text of `setting` means.
    pub(super) fn text(&self, setting: &str, text: &str) -> Result<T, ConfigError> {
        self.parse(text).ok_or_else(|| wrong(setting.to_owned(), &Value::from(text), &self.allowed))
    }
}

/// The error that `setting` has this value.
pub(super) fn wrong(setting: String, value: &Value, allowed: &str) -> ConfigError {
    ConfigError::Wrong { setting, found: shortened(value.to_string()), allowed: allowed.to_owned() }
}

/// As much of `text` as helps to recognise it.
pub(super) fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(SHOWN) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// A whole number within `bounds`.
pub(super) fn whole<T>(bounds: RangeInclusive<T>, unit: &str) -> Rule<T>
where
    T: TryFrom<u64> + PartialOrd + Display + 'static,
{
    let space = if unit.is_empty() { "" } else { " " };
    let allowed = format!("allowed are whole numbers from {} to {}{space}{unit}", bounds.start(), bounds.end());
    Rule::new(allowed, move |value| value.as_u64()?.try_into().ok().filter(|number| bounds.contains(number)))
}

fn time(bounds: RangeInclusive<f64>) -> Rule<f64> {
    let allowed = format!("allowed are {} to {} seconds", bounds.start(), bounds.end());
    Rule::new(allowed, move |value| value.as_f64().filter(|seconds| bounds.contains(seconds)))
}

/// How long somebody is waited for.
pub(super) fn seconds() -> Rule<f64> {
    time(0.01..=3600.0)
}

/// How long to pause, which may be not at all.
pub(super) fn pause() -> Rule<f64> {
    time(0.0..=60.0)
}

/// A port that can be named.
pub(super) fn port() -> Rule<u16> {
    whole(1..=65535, "")
}

pub(super) fn players() -> Rule<u32> {
    whole(2..=10_000, "")
}

pub(super) fn referees() -> Rule<u32> {
    whole(1..=10_000, "")
}

/// How many random bytes a token has.
pub(super) fn token_length() -> Rule<u8> {
    whole(16..=64, "bytes")
}

/// How many matches at a time.
pub(super) fn matches() -> Rule<u32> {
    whole(1..=10_000, "")
}

/// How often a player is asked in all.
pub(super) fn tries() -> Rule<u8> {
    whole(1..=10, "")
}

pub(super) fn count() -> Rule<NonZeroU32> {
    whole(1..=1_000_000, "").map(|count: u32| NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN))
}

/// How long a token is good for: at most a year.
pub(super) fn hours() -> Rule<u32> {
    whole(1..=8760, "hours")
}

pub(super) fn points() -> Rule<u32> {
    whole(0..=1000, "")
}

/// Two ports, the first and the last: `[8001, 8010]`, or `8001-8010`.
pub(super) fn ports() -> Rule<Ports> {
    Rule::new("allowed are two ports from 1 to 65535, the first not above the last", |value| {
        let (first, last) = match (value.as_array().map(Vec::as_slice), value.as_str()) {
            (Some([first, last]), _) => (first.as_u64()?.try_into().ok()?, last.as_u64()?.try_into().ok()?),
            (None, Some(text)) => {
                let (first, last) = text.split_once('-')?;
                (first.trim().parse().ok()?, last.trim().parse().ok()?)
            }
            (Some(_), _) | (None, None) => return None,
        };
        Ports::new(first, last)
    })
}

pub(super) fn truth() -> Rule<bool> {
    Rule::new("allowed are true and false", Value::as_bool)
}

/// One of the words in `choices`, and what it stands for.
pub(super) fn one_of<T: Clone + 'static>(choices: &[(&'static str, T)]) -> Rule<T> {
    let choices = choices.to_vec();
    Rule::new(words(choices.iter().map(|(word, _)| *word)), move |value| {
        choices.iter().find(|(word, _)| value == *word).map(|(_, meant)| meant.clone())
    })
}

/// The only value that there can be.
pub(super) fn only(expected: impl Into<Value>) -> Rule<()> {
    let expected = expected.into();
    Rule::new(format!("allowed is {expected}"), move |value| (*value == expected).then_some(()))
}

pub(super) fn tokens_on() -> Rule<()> {
    let why = "allowed is true: tokens cannot be switched off, because without them anybody could report results and register as \
               another agent; remove the setting";
    Rule::new(why, |value| (*value == Value::Bool(true)).then_some(()))
}

/// A text that begins like this: versions of a format that we know.
pub(super) fn version(prefix: &'static str) -> Rule<()> {
    Rule::new(format!("allowed are versions that begin with {prefix}"), move |value| {
        value.as_str()?.starts_with(prefix).then_some(())
    })
}

pub(super) fn id<T: FromStr<Err = BadId> + 'static>() -> Rule<T> {
    Rule::new("allowed are 1 to 64 letters, digits and `_ - : .`, not beginning with a dot", |value| {
        value.as_str()?.parse().ok()
    })
}

pub(super) fn name() -> Rule<SmolStr> {
    Rule::new(format!("allowed are 1 to {MAX_NAME} printable characters"), |value| {
        let text = value.as_str()?.trim();
        let fits = !text.is_empty() && text.chars().count() <= MAX_NAME && !text.chars().any(char::is_control);
        fits.then(|| SmolStr::new(text))
    })
}

pub(super) fn file() -> Rule<String> {
    Rule::new("allowed is the name of a file", |value| Some(value.as_str()?.to_owned()).filter(|name| !name.is_empty()))
}

/// Any text, with what it is.
pub(super) fn text(allowed: &str) -> Rule<String> {
    Rule::new(allowed, |value| value.as_str().map(str::to_owned))
}

/// A host, by name or by address.
pub(super) fn host() -> Rule<SmolStr> {
    Rule::new("allowed is the name or the address of a host, without a port", |value| {
        let text = value.as_str()?;
        let endpoint = super::network::endpoint("http", text, 1)?;
        (endpoint.host().eq_ignore_ascii_case(text)).then(|| SmolStr::new(text))
    })
}

pub(super) fn endpoint() -> Rule<Endpoint> {
    Rule::new("allowed are addresses such as http://127.0.0.1:8101/mcp", |value| value.as_str()?.parse().ok())
}

/// A game that the league knows.
pub(super) fn game() -> Rule<GameType> {
    games(known_games())
}

pub(super) fn games<'a>(known: impl Iterator<Item = &'a str>) -> Rule<GameType> {
    let known: Vec<GameType> = known.filter_map(|name| name.parse().ok()).collect();
    Rule::new(words(known.iter().map(GameType::as_str)), move |value| {
        known.iter().find(|game| value == game.as_str()).cloned()
    })
}

/// A strategy that a player can follow.
pub(super) fn player_strategy() -> Rule<SmolStr> {
    Rule::new(words(strategies().map(|entry| entry.name)), |value| {
        let text = value.as_str()?;
        strategy(text).ok().map(|_| SmolStr::new(text))
    })
}

fn words<'a>(choices: impl Iterator<Item = &'a str>) -> String {
    let choices: Vec<_> = choices.map(|word| format!("{word:?}")).collect();
    let verb = if choices.len() == 1 { "is" } else { "are" };
    format!("allowed {verb} {}", choices.join(", "))
}
