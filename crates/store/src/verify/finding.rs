//! What can be wrong with a league: one thing, precisely.

use std::io;
use std::path::PathBuf;

use league_core::record::BadRecord;
use league_core::season::BadEvent;
use league_protocol::id::{LeagueId, MatchId};
use thiserror::Error;

use crate::home::HomeError;
use crate::log::LogError;
use crate::log::chain::LogHead;

/// The first thing that is wrong.
#[derive(Debug, Error)]
pub enum VerifyFinding {
    /// There is nothing to look at.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The log cannot be read, or its chain is broken.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The log ends before the head that was noted.
    #[error("the log was cut: it ends with event {}, and had {} when the head was noted", found.seq, expected.seq)]
    Cut {
        expected: LogHead,
        /// The end of the log now.
        found: LogHead,
    },
    /// The log holds together, and is another one than when the head was noted.
    #[error("the log was rewritten: event {} has the hash {}, and had {} when the head was noted", found.seq, found.hash, expected.hash)]
    Rewritten { expected: LogHead, found: LogHead },
    /// An event that cannot have happened.
    #[error("event {seq} tells no league: {reason}")]
    Story { seq: u64, reason: BadEvent },
    #[error("this is the log of {found}, in the place of {expected}")]
    OtherLeague {
        /// The league that was asked for.
        expected: LeagueId,
        /// The league that the log tells of.
        found: LeagueId,
    },
    #[error("the result of {match_id} (event {seq}) is wrong: {reason}")]
    Record { seq: u64, match_id: MatchId, reason: BadRecord },
    /// A file that says something else than the log.
    #[error("{path} does not agree with the log: {field} is {found}, expected {expected}")]
    File { path: PathBuf, field: String, found: String, expected: String },
    /// A table that says something else than the log.
    #[error("a table in {path} does not agree with the events: {what}")]
    Table { path: PathBuf, what: String },
    #[error("{path} cannot be read: {reason}")]
    Io { path: PathBuf, reason: String },
}

impl VerifyFinding {
    pub(super) fn io(path: PathBuf, error: &io::Error) -> Self {
        Self::Io { path, reason: error.to_string() }
    }

    pub(super) fn file(path: PathBuf, field: impl Into<String>, found: String, expected: String) -> Self {
        Self::File { path, field: field.into(), found, expected }
    }
}
