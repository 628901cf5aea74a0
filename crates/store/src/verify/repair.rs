//! `league verify --repair`: writes stale and missing views again from the log.
//!
//! A file that differs from the log stays as it is, because it is evidence. The operator moves it away first.

use std::io;
use std::path::PathBuf;

use league_core::season::Season;
use league_protocol::id::LeagueId;
use serde_json::Value;

use super::{VerifyFinding, VerifyReport};
use crate::home::Home;
use crate::log::scan;
use crate::views::register::RegisterFile;
use crate::views::repair::Repair;
use crate::views::replace::{ReplaceSync, replace, sync_directory};
use crate::views::rounds::RoundsFile;
use crate::views::standings::StandingsFile;
use crate::views::writer::{ViewLimits, document, read_register};

/// Writes the files that `report` calls stale or missing. The caller holds the lock of the league.
pub fn repair(home: &Home, league: &LeagueId, report: &VerifyReport) -> Result<(), VerifyFinding> {
    let season = season(home, league)?;
    let is_due = |path: &PathBuf| {
        let is_missing = !path.exists() && report.differences.iter().any(|difference| difference.path == *path);
        is_missing || report.stale.iter().any(|stale| stale.path == *path)
    };
    let limits = ViewLimits::default();
    let (standings, rounds, register) = (home.standings(league), home.rounds(league), home.agents_config());
    if is_due(&standings) {
        write(standings, document(&StandingsFile::of(&season)))?;
    }
    if is_due(&rounds) {
        write(rounds, document(&RoundsFile::of(&season, limits.match_files)))?;
    }
    if is_due(&register) {
        let merged = read_register(&register).and_then(|found| {
            let address = found["league_manager"]["endpoint"].as_str().map(str::to_owned);
            RegisterFile::of(&season, address.as_deref()).merged_into(found)
        });
        write(register, merged.and_then(|whole: Value| document(&whole)))?;
    }
    let matches = home.matches(league);
    let failed = |error: io::Error| VerifyFinding::Io { path: matches.clone(), reason: error.to_string() };
    let mut repair = Repair::new(home.clone(), league.clone(), season.total_matches(), limits).map_err(failed)?;
    repair.keep_different();
    scan(&home.log(league), |_, event| repair.apply(&event).map_err(VerifyFinding::from))?;
    repair.finish()?;
    sync_directory(&home.league(league)).map_err(failed)
}

fn season(home: &Home, league: &LeagueId) -> Result<Season, VerifyFinding> {
    let (replay, _) = crate::log::replay(&home.log(league), |_, _| {}).map_err(|error| match error {
        crate::log::LoadError::Log(error) => VerifyFinding::Log(error),
        crate::log::LoadError::Replay(error) => VerifyFinding::Replay(error),
    })?;
    Ok(replay.finish()?)
}

fn write(path: PathBuf, document: io::Result<Vec<u8>>) -> Result<(), VerifyFinding> {
    let written = document.and_then(|document| replace(&path, &document, ReplaceSync::Now));
    written.map_err(|error| VerifyFinding::Io { path, reason: error.to_string() })
}
