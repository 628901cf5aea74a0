//! How much the log files of this process tell.

use anyhow::{Result, bail};
use league_store::journal::{JournalLevel, JournalLimits};

const VARIABLE: &str = "LEAGUE_LOG_FILES";

/// The limits of the logs, with lines from the level in `LEAGUE_LOG_FILES` on: `debug` has every message, `info` events, `warn` what went
/// wrong. That is never left out. Where the variable is not set, from `usual` on.
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
