//! Views from the log: what is missing or damaged is written again, what agrees with the log stays as it is.
//!
//! A match file that agrees is kept, because it has the transcript, which the log has not.

use std::io;

use league_core::season::event::Event;
use league_core::season::{BadEvent, Season};
use league_protocol::time::Timestamp;
use thiserror::Error;

use super::match_file::Ending;
use super::replace::{Sync, replace, sync_directory};
use super::retelling::Retelling;
use super::rounds::RoundsFile;
use super::shelf::Shelf;
use super::standings::StandingsFile;
use super::writer::{ViewLimits, append_line, document};
use crate::home::Home;

/// Views could not be made from the log.
#[derive(Debug, Error)]
pub enum RestoreError {
    /// The log tells no league.
    #[error(transparent)]
    Event(#[from] BadEvent),
    /// The disk.
    #[error("the views cannot be written again: {0}")]
    Io(#[from] io::Error),
}

/// What was there and what was not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Restored {
    /// Matches whose file was right.
    pub kept: u64,
    /// Matches whose file was written again.
    pub written: u64,
}

/// Brings the files of a league into agreement with its events. Whatever it finds in them, damage is not an error.
pub fn restore(home: &Home, events: &[Event], limits: ViewLimits, now: Timestamp) -> Result<Restored, RestoreError> {
    let whole = Season::replay(events)?;
    let league = &whole.config().league_id;
    let large = whole.schedule().total_matches() > limits.match_files;
    let shelf = Shelf::of(home, league)?;
    let mut restored = Restored::default();
    let mut retelling = Retelling::default();
    for event in events {
        let Some(file) = retelling.tell(event)? else { continue };
        if shelf.endings.get(&file.match_id) == Some(&Ending::of(&file)) {
            restored.kept += 1;
            continue;
        }
        restored.written += 1;
        if large {
            append_line(&home.match_lines(league), &file)?;
        } else {
            replace(&home.match_file(league, &file.match_id), &document(&file)?, Sync::Later)?;
        }
    }
    write_tables(home, &whole, limits, now)?;
    Ok(restored)
}

fn write_tables(home: &Home, season: &Season, limits: ViewLimits, now: Timestamp) -> io::Result<()> {
    let league = &season.config().league_id;
    replace(&home.standings(league), &document(&StandingsFile::of(season, now))?, Sync::Now)?;
    replace(&home.rounds(league), &document(&RoundsFile::of(season, limits.match_files, now))?, Sync::Now)?;
    sync_directory(&home.league(league))
}
