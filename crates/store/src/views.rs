//! Standings, rounds, matches and histories as JSON files, for people and other programs.
//!
//! A missing or damaged file is written again from the log ([`restore`], [`repair`]). Each file is replaced atomically
//! ([`replace`]): a reader sees the old file or the new one.
//!
//! - [`standings`], [`rounds`], [`match_file`], [`history`], [`register`], [`keys`]: the files
//! - [`redact`]: hides credentials
//! - [`writer`], [`histories`]: the threads that write
//! - [`find_match`], [`narrative`], [`match_replay`]: find a match, describe it, rebuild its file from the log
//!
//! A league of more than [`ViewLimits::match_files`](writer::ViewLimits) matches keeps them in one `matches.jsonl`,
//! because many small files would take more disk than the rest of the league. The last line of a match counts.

pub mod find_match;
pub mod histories;
pub mod history;
pub mod keys;
pub(crate) mod match_digest;
pub mod match_file;
pub(crate) mod match_index;
pub mod match_replay;
pub mod narrative;
pub mod redact;
pub mod register;
pub mod repair;
pub mod replace;
pub mod restore;
pub mod rounds;
pub mod standings;
pub mod writer;

pub const SCHEMA_VERSION: &str = "1.0.0";

/// The default of `ViewLimits::match_files`.
pub const MATCH_FILES: u64 = 1_000;

fn schema_version() -> smol_str::SmolStr {
    smol_str::SmolStr::new_static(SCHEMA_VERSION)
}
