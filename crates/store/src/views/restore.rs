//! Writes the standings and rounds of a league again from its log. Standings also reveal a log that lost its end.

use std::path::PathBuf;
use std::{fs, io};

use league_core::season::Season;
use league_protocol::id::LeagueId;
use serde::de::IgnoredAny;
use thiserror::Error;

use super::replace::{ReplaceSync, replace, sync_directory};
use super::rounds::RoundsFile;
use super::standings::StandingsFile;
use super::writer::{ViewLimits, document};
use crate::home::Home;

#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "{table} counts {counted} results, and {log} has only {found}: its end is lost, or an older copy was put in its place. Nothing was \
     changed. {remedy}; to go on without what is lost, move {table} away first"
)]
pub struct ShorterLog {
    table: PathBuf,
    /// A file, or the database without its password.
    log: String,
    remedy: &'static str,
    counted: u32,
    found: u32,
}

/// Fails if the log has fewer results than `standings.json`. The manager writes standings after their results are
/// durable, so they never have more results than the log.
pub fn expect_no_less(home: &Home, league: &LeagueId, found: u32) -> Result<(), ShorterLog> {
    let table = home.standings(league);
    let counted = match StandingsFile::read(&table, league).map(|file| file.version) {
        Some(counted) if counted > found => counted,
        Some(_) | None => return Ok(()),
    };
    let (log, remedy) = match home.store() {
        Some(store) => (store.name().to_owned(), "Bring back the server that has them"),
        None => (home.database(league).display().to_string(), "Put the right one back, with its -wal file"),
    };
    Err(ShorterLog { table, log, remedy, counted, found })
}

/// Returns the files that were damaged or missing.
pub fn restore_tables(home: &Home, season: &Season, limits: ViewLimits) -> io::Result<Vec<PathBuf>> {
    let league = &season.config().league_id;
    let (table, rounds) = (home.standings(league), home.rounds(league));
    // A manager that was killed may not have written the files of its first round.
    let is_due = season.rounds_completed() > 0;
    let is_json = |bytes: Vec<u8>| serde_json::from_slice::<IgnoredAny>(&bytes).is_ok();
    let is_broken = |path: &PathBuf| (is_due || path.exists()) && !fs::read(path).is_ok_and(is_json);
    let damaged = [&table, &rounds].into_iter().filter(|path| is_broken(path)).cloned().collect();
    replace(&table, &document(&StandingsFile::of(season))?, ReplaceSync::Now)?;
    replace(&rounds, &document(&RoundsFile::of(season, limits.match_files))?, ReplaceSync::Now)?;
    sync_directory(&home.league(league))?;
    Ok(damaged)
}
