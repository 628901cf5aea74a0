//! Bounds of single values, for `#[serde(deserialize_with)]`. Each error says what is expected.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use league_core::rules::registry::known_games;
use league_player::strategy::registry::{strategies, strategy};
use league_protocol::id::GameType;
use league_protocol::message::start_match::span;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use smol_str::SmolStr;

use super::network::endpoint;

const MAX_NAME: usize = 128;
/// Bounds for a time limit, in seconds.
const SECONDS: RangeInclusive<f64> = 0.01..=3600.0;
/// Bounds for a pause, in seconds.
const PAUSE: RangeInclusive<f64> = 0.0..=60.0;

/// A derived `Deserialize` alone would also accept a list of the fields' values.
pub(super) fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Object<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }
    deserializer.deserialize_map(Object(PhantomData))
}

fn value<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    expected: impl fmt::Display,
    read: impl FnOnce(&Value) -> Option<T>,
) -> Result<T, D::Error> {
    read(&Value::deserialize(deserializer)?).ok_or_else(|| D::Error::custom(format_args!("expected {expected}")))
}

pub(super) fn whole<'de, const MIN: u32, const MAX: u32, T: TryFrom<u32>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    value(deserializer, format_args!("a whole number from {MIN} to {MAX}"), |value| {
        let number = u32::try_from(value.as_u64()?).ok()?;
        (MIN..=MAX).contains(&number).then_some(number)?.try_into().ok()
    })
}

fn within<'de, T: From<f64>, D: Deserializer<'de>>(
    deserializer: D,
    bounds: &RangeInclusive<f64>,
) -> Result<T, D::Error> {
    let expected = format_args!("{} to {} seconds", bounds.start(), bounds.end());
    value(deserializer, expected, |value| value.as_f64().filter(|seconds| bounds.contains(seconds)).map(T::from))
}

pub(super) fn seconds<'de, T: From<f64>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    within(deserializer, &SECONDS)
}

pub(super) fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    seconds(deserializer).map(span)
}

pub(super) fn pause<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    within(deserializer, &PAUSE)
}

pub(crate) fn seconds_flag(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| SECONDS.contains(seconds));
    seconds.ok_or_else(|| format!("expected {} to {} seconds", SECONDS.start(), SECONDS.end()))
}

pub(super) fn host<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SmolStr, D::Error> {
    value(deserializer, HOST, |value| {
        let text = value.as_str()?;
        let endpoint = endpoint("http", text, 1)?;
        endpoint.host().eq_ignore_ascii_case(text).then(|| SmolStr::new(text))
    })
}

pub(super) const HOST: &str = "the name or address of a host, without a port";

pub(super) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SmolStr>, D::Error> {
    value(deserializer, format_args!("1 to {MAX_NAME} printable characters"), |value| {
        let text = value.as_str()?.trim();
        let fits = !text.is_empty() && text.chars().count() <= MAX_NAME && !text.chars().any(char::is_control);
        fits.then(|| Some(SmolStr::new(text)))
    })
}

pub(super) fn path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    value(deserializer, "the name of a file", |value| {
        Some(Some(PathBuf::from(value.as_str().filter(|name| !name.is_empty())?)))
    })
}

pub(super) fn games<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<GameType>, D::Error> {
    #[derive(Deserialize)]
    struct Known(#[serde(deserialize_with = "game")] GameType);
    Vec::<Known>::deserialize(deserializer).map(|known| known.into_iter().map(|known| known.0).collect())
}

fn game<'de, D: Deserializer<'de>>(deserializer: D) -> Result<GameType, D::Error> {
    value(deserializer, one_of(known_games()), |value| {
        known_games().find(|name| value == *name).and_then(|name| name.parse().ok())
    })
}

pub(super) fn player_strategy<'de, T: From<SmolStr>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    value(deserializer, one_of(strategies().map(|entry| entry.name)), |value| {
        let text = value.as_str()?;
        strategy(text).ok().map(|_| T::from(SmolStr::new(text)))
    })
}

/// Tokens cannot be disabled.
pub(super) fn always_true<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    let expected =
        "true: without tokens any agent could register as another one and report its results; remove this key";
    value(deserializer, expected, |value| (*value == Value::Bool(true)).then_some(()))
}

pub(super) fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    format!("one of {}", names.collect::<Vec<_>>().join(", "))
}
