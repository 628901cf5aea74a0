use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::text::parsed;

/// Read with or without fractions of a second, ending in `Z` or `+00:00`. Written in whole seconds with `Z`, because
/// some peers refuse fractions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(jiff::Timestamp);

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{found:?} is not a timestamp in UTC; send one like 2025-01-15T10:30:00Z")]
pub struct BadTimestamp {
    pub found: String,
}

impl Timestamp {
    pub const EPOCH: Self = Self(jiff::Timestamp::UNIX_EPOCH);

    /// Clamped to the years that can be written.
    pub fn from_unix(seconds: i64) -> Self {
        let within = seconds.clamp(jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
        Self(jiff::Timestamp::from_second(within).unwrap_or(jiff::Timestamp::UNIX_EPOCH))
    }

    /// Rounds down, as the printed form does, before 1970 too.
    pub fn unix(self) -> i64 {
        // Truncation would round a time before 1970 up to the next second.
        self.0.as_second() - i64::from(self.0.subsec_nanosecond() < 0)
    }

    pub fn unix_millis(self) -> i64 {
        self.0.as_millisecond() - i64::from(self.0.subsec_nanosecond() % 1_000_000 < 0)
    }

    /// Clamped to the years that can be written.
    pub fn from_unix_millis(millis: i64) -> Self {
        let within = millis.clamp(jiff::Timestamp::MIN.as_millisecond(), jiff::Timestamp::MAX.as_millisecond());
        Self(jiff::Timestamp::from_millisecond(within).unwrap_or(jiff::Timestamp::UNIX_EPOCH))
    }

    /// Saturates at the latest time.
    pub fn after(self, span: Duration) -> Self {
        self.0.checked_add(span).map_or(Self(jiff::Timestamp::MAX), Self)
    }

    /// Zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::try_from(self.0.duration_since(earlier.0)).unwrap_or_default()
    }

    /// Some peers write fractions of a second, and others refuse them.
    pub fn is_fractional(text: &str) -> bool {
        text.contains('.')
    }
}

impl FromStr for Timestamp {
    type Err = BadTimestamp;

    fn from_str(text: &str) -> Result<Self, BadTimestamp> {
        let bad = || BadTimestamp { found: text.chars().take(64).collect() };
        let utc = text.ends_with('Z') || text.ends_with("+00:00");
        if !utc || text.len() > 40 || text.as_bytes().get(10) != Some(&b'T') {
            return Err(bad());
        }
        text.parse().map(Self).map_err(|_| bad())
    }
}

thread_local! {
    /// Caches the last second and its text, because a busy agent writes the same one thousands of times.
    static WRITTEN: Cell<(i64, [u8; LENGTH])> = const { Cell::new((i64::MIN, [0; LENGTH])) };
}

/// The length of `2025-01-15T10:30:00Z`.
const LENGTH: usize = 20;

impl Timestamp {
    fn text(self) -> Option<[u8; LENGTH]> {
        let second = self.unix();
        let (last, text) = WRITTEN.get();
        if last == second {
            return Some(text);
        }
        let text = format!("{:.0}", self.0).into_bytes().try_into().ok()?;
        WRITTEN.set((second, text));
        Some(text)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text().as_ref().map(|text| str::from_utf8(text)) {
            Some(Ok(text)) => f.write_str(text),
            Some(Err(_)) | None => write!(f, "{:.0}", self.0),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.text().as_ref().map(|text| str::from_utf8(text)) {
            Some(Ok(text)) => serializer.serialize_str(text),
            Some(Err(_)) | None => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parsed(deserializer)
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utc_is_read_in_both_spellings_and_written_in_one() {
        for text in [
            "2025-01-15T10:30:00Z",
            "2025-01-15T10:30:00+00:00",
            "2025-01-15T10:30:00.000Z",
            "2025-01-15T10:30:00.987654+00:00",
        ] {
            assert_eq!(text.parse::<Timestamp>().unwrap().to_string(), "2025-01-15T10:30:00Z", "{text}");
        }
    }

    #[test]
    fn a_timestamp_that_is_not_utc_is_refused() {
        for text in [
            "2025-01-15T10:30:00",
            "2025-01-15 10:30:00",
            "2025-01-15 10:30:00Z",
            "2025-01-15T10:30:00+02:00",
            "2025-01-15T10:30:00-00:00",
            "2025-01-15T10:30:00z",
            "2025-13-15T10:30:00Z",
            "2025-01-15",
            "Z",
            "",
            "1736937000",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_before_1970_is_rounded_down_to_the_printed_second() {
        for (text, printed, second) in [
            ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59Z", -1),
            ("1969-12-31T23:59:58Z", "1969-12-31T23:59:58Z", -2),
            ("1970-01-01T00:00:00.5Z", "1970-01-01T00:00:00Z", 0),
        ] {
            let moment: Timestamp = text.parse().unwrap();
            assert_eq!((moment.to_string().as_str(), moment.unix()), (printed, second));
            assert_eq!(moment.unix_millis().div_euclid(1000), second, "{text}");
        }
        assert_eq!("1969-12-31T23:59:59.9999Z".parse::<Timestamp>().unwrap().unix_millis(), -1);
    }

    #[test]
    fn every_second_and_every_year_is_written_correctly() {
        for year in ["2025", "1969", "-000001", "9999", "-009999"] {
            for second in ["00", "01", "00", "59"] {
                let text = format!("{year}-01-15T10:30:{second}Z");
                let moment = Timestamp(text.parse().unwrap());
                assert_eq!(moment.to_string(), text);
                assert_eq!(serde_json::to_string(&moment).unwrap(), format!("{text:?}"));
            }
        }
    }

    #[test]
    fn time_does_not_overflow() {
        assert_eq!(Timestamp::from_unix(i64::MAX).after(Duration::MAX), Timestamp(jiff::Timestamp::MAX));
        assert_eq!(Timestamp::EPOCH.since(Timestamp::from_unix(5)), Duration::ZERO);
        assert_eq!(Timestamp::from_unix(5).since(Timestamp::EPOCH), Duration::from_secs(5));
    }
}
