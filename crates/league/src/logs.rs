//! The level of the log files.

use anyhow::{Result, bail};
use league_store::journal::{JournalLevel, JournalLimits};

const VARIABLE: &str = "LEAGUE_LOG_FILES";

/// The level in `LEAGUE_LOG_FILES`, or else `default`: `debug` logs every message, `info` events, `warn` errors only.
pub(crate) fn limits(default: JournalLevel) -> Result<JournalLimits> {
    let text = std::env::var(VARIABLE).unwrap_or_default();
    let level = match text.to_ascii_lowercase().as_str() {
        "" => default,
        "debug" => JournalLevel::Debug,
        "info" => JournalLevel::Info,
        "warn" => JournalLevel::Warn,
        _ => bail!("{VARIABLE} is {text:?}; set it to debug, info or warn"),
    };
    Ok(JournalLimits { level, ..JournalLimits::default() })
}
