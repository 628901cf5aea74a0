//! `standings.json`, written by the manager.

use std::fs;
use std::path::Path;

use league_core::season::Season;
use league_protocol::id::LeagueId;
use league_protocol::message::standings::StandingsRow;
use league_protocol::time::Timestamp;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::schema_version;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StandingsFile {
    pub schema_version: SmolStr,
    pub league_id: LeagueId,
    /// The time of the last event in `events`.
    pub last_updated: Timestamp,
    /// The number of results counted.
    pub version: u32,
    /// The number of events counted: `league verify` compares the file with the log up to there.
    pub events: u64,
    pub rounds_completed: u32,
    pub standings: Vec<StandingsRow>,
}

impl StandingsFile {
    /// `None` when the file is missing, damaged, or of another league.
    pub(crate) fn read(path: &Path, league: &LeagueId) -> Option<Self> {
        let file: Self = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        (file.league_id == *league).then_some(file)
    }

    pub fn of(season: &Season) -> Self {
        Self {
            schema_version: schema_version(),
            league_id: season.config().league_id.clone(),
            last_updated: season.updated(),
            version: season.matches_completed(),
            events: season.events(),
            rounds_completed: season.rounds_completed(),
            standings: season.standings(),
        }
    }
}
