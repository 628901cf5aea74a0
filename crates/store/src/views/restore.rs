//! Views from the log: what is missing or damaged is written again, what agrees with the log stays as it is.
//!
//! A match file that agrees is kept, because it has the transcript, which the log has not.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use league_core::season::event::Event;
use league_core::season::{BadEvent, Season};
use league_protocol::id::LeagueId;
use league_protocol::time::Timestamp;
use thiserror::Error;

use super::match_file::Ending;
use super::replace::{Sync, replace, sync_directory};
use super::retelling::Retelling;
use super::rounds::RoundsFile;
use super::shelf::Shelf;
use super::standings::{StandingsFile, rounds_completed};
use super::writer::{ViewLimits, add_line, append, document};
use crate::home::Home;

/// Lines are appended together until they are so many bytes.
const LINES_AT_ONCE: usize = 1 << 20;

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
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Restored {
    /// Matches whose file was right.
    pub kept: u64,
    /// Matches whose file was written again.
    pub written: u64,
    /// Files that said nothing that could be understood, and tables that should have been there. They are written again too.
    pub damaged: Vec<PathBuf>,
}

/// The end of a log is missing, as its league's table shows.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "{table} counts {counted} results, and {log} has only {found}: its end is lost, or an older copy was put in its place. Nothing was \
     changed. Put the right one back, with its -wal file; to go on without what is lost, move {table} away first"
)]
pub struct Shorter {
    table: PathBuf,
    log: PathBuf,
    counted: u32,
    found: u32,
}

/// Makes sure that the log of `events` is not shorter than it once was. A table is written after what it counts was durable, so it never
/// rightly knows more results, played or awarded. This shows to the last table, which is the end of the last round.
pub fn expect_no_less(home: &Home, league: &LeagueId, events: &[Event]) -> Result<(), Shorter> {
    let table = home.standings(league);
    let results = events.iter().filter(|event| event.fact.ending().is_some()).count();
    let found = u32::try_from(results).unwrap_or(u32::MAX);
    match read_table(&table, league).filter(|file| file.version > found) {
        Some(StandingsFile { version, .. }) => {
            Err(Shorter { table, log: home.database(league), counted: version, found })
        }
        None => Ok(()),
    }
}

fn read_table(path: &Path, league: &LeagueId) -> Option<StandingsFile> {
    let file = fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<StandingsFile>(&bytes).ok());
    file.filter(|file| file.league_id == *league)
}

/// Brings the files of a league into agreement with its events. Whatever it finds in them, damage is not an error.
pub fn restore(home: &Home, events: &[Event], limits: ViewLimits, now: Timestamp) -> Result<Restored, RestoreError> {
    let whole = Season::replay(events)?;
    let league = &whole.config().league_id;
    let large = whole.schedule().total_matches() > limits.match_files;
    let shelf = Shelf::of(home, league)?;
    let mut restored = Restored { damaged: shelf.damaged.clone(), ..Restored::default() };
    let (table, rounds) = (home.standings(league), home.rounds(league));
    // Tables are written at the end of a round, not before.
    let is_due = rounds_completed(&whole) > 0;
    let is_broken = |path: &PathBuf| (is_due || path.exists()) && !fs::read(path).is_ok_and(|bytes| is_json(&bytes));
    restored.damaged.extend([table, rounds].into_iter().filter(is_broken));
    let (mut retelling, mut lines) = (Retelling::default(), Vec::new());
    for event in events {
        let Some(file) = retelling.tell(event)? else { continue };
        if shelf.endings.get(&file.match_id) == Some(&Ending::of(&file)) {
            restored.kept += 1;
            continue;
        }
        restored.written += 1;
        if large {
            add_line(&mut lines, &file)?;
            if lines.len() > LINES_AT_ONCE {
                append(&home.match_lines(league), &lines)?;
                lines.clear();
            }
        } else {
            replace(&home.match_file(league, &file.match_id), &document(&file)?, Sync::Later)?;
        }
    }
    if !lines.is_empty() {
        append(&home.match_lines(league), &lines)?;
    }
    write_tables(home, &whole, limits, now)?;
    Ok(restored)
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

fn write_tables(home: &Home, season: &Season, limits: ViewLimits, now: Timestamp) -> io::Result<()> {
    let league = &season.config().league_id;
    replace(&home.standings(league), &document(&StandingsFile::of(season, now))?, Sync::Now)?;
    replace(&home.rounds(league), &document(&RoundsFile::of(season, limits.match_files, now))?, Sync::Now)?;
    sync_directory(&home.league(league))
}
