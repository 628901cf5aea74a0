//! What can be wrong with a league: one thing, precisely.

use std::io;
use std::path::PathBuf;

use league_core::record::BadRecord;
use league_core::season::BadEvent;
use league_protocol::id::{LeagueId, MatchId};
use thiserror::Error;

use crate::home::HomeError;
use crate::log::LogError;
use crate::log::chain::Head;

/// The first thing that is wrong.
#[derive(Debug, Error)]
pub enum Finding {
    /// There is nothing to look at.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The log cannot be read, or its chain is broken.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The log ends before the head that was noted.
    #[error("the log was cut: it ends with event {}, and had {} when the head was noted", found.seq, expected.seq)]
    Cut {
        /// What was noted.
        expected: Head,
        /// The end of the log now.
        found: Head,
    },
    /// The log holds together, and is another one than when the head was noted.
    #[error("the log was rewritten: event {} has the hash {}, and had {} when the head was noted", found.seq, found.hash, expected.hash)]
    Rewritten {
        /// What was noted.
        expected: Head,
        /// What stands there now.
        found: Head,
    },
    /// An event that cannot have happened.
    #[error("event {seq} tells no league: {reason}")]
    Story {
        /// The event.
        seq: u64,
        /// Why not.
        reason: BadEvent,
    },
    /// The log of another league.
    #[error("this is the log of {found}, in the place of {expected}")]
    OtherLeague {
        /// The league that was asked for.
        expected: LeagueId,
        /// The league that the log tells of.
        found: LeagueId,
    },
    /// A result that contradicts itself.
    #[error("the result of {match_id} (event {seq}) is wrong: {reason}")]
    Record {
        /// The event.
        seq: u64,
        /// The match.
        match_id: MatchId,
        /// How.
        reason: BadRecord,
    },
    /// A file that says something else than the log.
    #[error("{path} does not agree with the log: {field} is {found}, expected {expected}")]
    File {
        /// The file.
        path: PathBuf,
        /// Where in it.
        field: String,
        /// What stands there.
        found: String,
        /// What the log gives.
        expected: String,
    },
    /// A table that says something else than the log.
    #[error("a table in {path} does not agree with the events: {what}")]
    Table {
        /// The database.
        path: PathBuf,
        /// What and where.
        what: String,
    },
    /// Something cannot be read.
    #[error("{path} cannot be read: {reason}")]
    Io {
        /// What.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl Finding {
    pub(super) fn io(path: PathBuf, error: &io::Error) -> Self {
        Self::Io { path, reason: error.to_string() }
    }

    pub(super) fn file(path: PathBuf, field: impl Into<String>, found: String, expected: String) -> Self {
        Self::File { path, field: field.into(), found, expected }
    }
}
