//! The errors in a log, and what keeps `verify` from reading a home.

use std::path::PathBuf;

use league_core::record::BadRecord;
use league_core::replay::ReplayError;
use league_protocol::id::{LeagueId, MatchId};
use thiserror::Error;

use crate::home::HomeError;
use crate::log::{LogError, LogHead};
use crate::views::repair::RepairError;

#[derive(Debug, Error)]
pub enum VerifyFinding {
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("the log was cut: it ends with event {}, and had {} when the head was noted", found.seq, expected.seq)]
    Cut { expected: LogHead, found: LogHead },
    #[error("the log was rewritten: event {} has the hash {}, and had {} when the head was noted", found.seq, found.hash, expected.hash)]
    Rewritten { expected: LogHead, found: LogHead },
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error("this is the log of {found}, in the place of {expected}")]
    OtherLeague { expected: LeagueId, found: LeagueId },
    #[error("the result of {match_id} (event {seq}) is wrong: {reason}")]
    Record { seq: u64, match_id: MatchId, reason: BadRecord },
    #[error(transparent)]
    Repair(#[from] RepairError),
    #[error("{path} cannot be read or written: {reason}")]
    Io { path: PathBuf, reason: String },
}
