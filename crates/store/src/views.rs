//! The files of the profile: standings, rounds, matches and histories as JSON, for people and other programs.
//!
//! They are views of the log: a file that is missing or damaged is written again ([`restore`], [`repair`]). Each is replaced
//! atomically ([`replace`]): a reader sees the old file or the new one.
//!
//! - [`standings`], [`rounds`], [`match_file`], [`history`], [`register`], [`keys`]: the files
//! - [`redact`]: hides credentials
//! - [`writer`], [`histories`]: the threads that write
//! - [`find_match`]: finds a match again; [`narrative`]: tells it as sentences
//! - [`match_replay`]: match files from the log
//!
//! A league of more than [`ViewLimits::match_files`](writer::ViewLimits) matches keeps all of them in one `matches.jsonl`, one to a
//! line; the last line of a match counts. Its `rounds.json` lists the matches of the current round only. Thousands of small files
//! would take more disk than the rest of the league.

pub mod find_match;
pub mod histories;
pub mod history;
pub mod keys;
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

/// The version of every file here.
pub const SCHEMA_VERSION: &str = "1.0.0";

/// Matches that a league may have before they go to one file, unless configured otherwise.
pub const MATCH_FILES: u64 = 1_000;

fn schema_version() -> smol_str::SmolStr {
    smol_str::SmolStr::new_static(SCHEMA_VERSION)
}
