//! The level of the log files.

use anyhow::{Result, bail};
use league_store::journal::{JournalLevel, JournalLimits};

const VARIABLE: &str = "LEAGUE_LOG_FILES";

/// The level in `LEAGUE_LOG_FILES`, or else `usual`: `debug` logs every message, `info` events, `warn` errors only.
pub(crate) fn limits(usual: JournalLevel) -> Result<JournalLimits> {
    let asked = std::env::var(VARIABLE).unwrap_or_default();
    let level = match asked.to_ascii_lowercase().as_str() {
        "" => usual,
        "debug" => JournalLevel::Debug,
        "info" => JournalLevel::Info,
        "warn" => JournalLevel::Warn,
        _ => bail!("{VARIABLE} is {asked:?}; set it to debug, info or warn"),
    };
    Ok(JournalLimits { level, ..JournalLimits::default() })
}
