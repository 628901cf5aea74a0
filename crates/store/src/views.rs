//! The files of the profile: standings, rounds, matches and histories as JSON, for people and for programs of other make.
//!
//! They are views. The truth is the log; a file that is missing or damaged is no error for anybody, it is written again
//! ([`restore`], [`mending`]). Each is replaced atomically ([`replace`]): a reader sees the old file or the new one, never half of one.
//!
//! - [`standings`], [`rounds`], [`match_file`], [`history`]: what is in them
//! - [`register`]: the register of agents
//! - [`keys`]: what a player keeps to itself
//! - [`redact`]: what is not in them
//! - [`writer`]: who writes them, in the background
//! - [`kept`]: one match, found again; [`narrative`]: told for people
//! - [`retelling`], [`restore`], [`mending`]: how they come out of the log
//!
//! A league of more than [`ViewLimits::match_files`](writer::ViewLimits) matches keeps all of them in one `matches.jsonl`, the same documents one to a
//! line, the last one of a match counting; its `rounds.json` lists the matches of the current round only. Thousands of small
//! files help nobody, and cost more than all the rest of a league's disk.

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
