//! How long a manager takes to be there again when there is much to remember.

use anyhow::Result;
use league_core::in_memory::InMemoryLeague;
use league_core::rules::seed::Seed;
use league_core::season::config::LeagueConfig;
use league_protocol::time::Timestamp;
use league_store::home::Home;
use league_store::log::{EventLog, SqliteLog};
use serde::{Deserialize, Serialize};
use smol_str::format_smolstr;

use super::stage::Stage;

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Restart {
    pub(crate) results: u32,
    /// How long it took until the manager served.
    pub(crate) seconds: f64,
    /// The most memory that the manager had by then, where the system tells.
    pub(crate) manager_mb: Option<u64>,
}

/// The fewest players whose league has so many matches.
pub(crate) fn players_for(results: u32) -> u32 {
    (2..=2000).find(|players| players * (players - 1) / 2 >= results).unwrap_or(2000)
}

/// Writes the log of a league with about so many results, which was played in memory, and starts a manager on it.
pub(crate) fn measure(stage: &Stage, results: u32) -> Result<Restart> {
    let players = players_for(results);
    let config = LeagueConfig { max_players: players, ..LeagueConfig::even_odd("league_remembered".parse()?) };
    let (league, seed) = (config.league_id.clone(), Seed::new(7, config.league_id.clone()));
    let names: Vec<_> = (1..=players).map(|number| format_smolstr!("Player {number}")).collect();
    let chance = seed.clone();
    let choose = |match_id: &_, player: &_| chance.choice(match_id, player);
    let mut rehearsal = InMemoryLeague::kept(config, &names, seed, Timestamp::EPOCH, choose)?;

    let path = stage.path("remembered");
    let home = Home::at(&path);
    home.prepare(&league)?;
    let (log, _) = SqliteLog::open(home.database(&league))?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    loop {
        let more = rehearsal.play_round()?;
        runtime.block_on(log.append(rehearsal.take_events()))?;
        if !more {
            break;
        }
    }
    let results = rehearsal.season().matches_completed();
    drop(log);
    let restart = stage.restart(&path, &league, results)?;
    stage.clear(&path)?;
    Ok(restart)
}
