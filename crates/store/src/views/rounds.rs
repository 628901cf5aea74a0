//! `rounds.json`: the pairings and results, written by the manager.

use league_core::season::Season;
use league_protocol::id::{LeagueId, RoundId};
use league_protocol::message::query::ScheduledRound;
use league_protocol::time::Timestamp;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::schema_version;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoundsFile {
    pub schema_version: SmolStr,
    pub league_id: LeagueId,
    /// The time of the last event in `events`.
    pub last_updated: Timestamp,
    /// The number of events counted: `league verify` compares the file with the log up to there.
    pub events: u64,
    pub total_rounds: u32,
    pub rounds_completed: u32,
    pub rounds: Vec<ScheduledRound>,
}

impl RoundsFile {
    pub fn of(season: &Season, match_files: u64) -> Self {
        let is_large = season.total_matches() > match_files;
        let rounds = if is_large { large(season) } else { season.scheduled_rounds() };
        Self {
            schema_version: schema_version(),
            league_id: season.config().league_id.clone(),
            last_updated: season.updated(),
            events: season.events(),
            total_rounds: season.total_rounds(),
            rounds_completed: season.rounds_completed(),
            rounds,
        }
    }
}

/// A league of 1,000 players has half a million matches, so only the current round lists them.
fn large(season: &Season) -> Vec<ScheduledRound> {
    let rounds = (1..=season.total_rounds()).map(RoundId).filter_map(|round| {
        if season.current_round() == Some(round) {
            return season.scheduled_round(round);
        }
        season.plan(round)?;
        let (bye, byes) = season.named_byes(round);
        Some(ScheduledRound {
            round_id: round,
            completed: round.0 <= season.rounds_completed(),
            bye,
            byes,
            matches: Vec::new(),
        })
    });
    rounds.collect()
}
