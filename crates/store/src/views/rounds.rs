//! `rounds.json`: who meets whom and how it ended, written by the manager.

use league_core::season::Season;
use league_protocol::id::LeagueId;
use league_protocol::message::query::ScheduledRound;
use league_protocol::time::Timestamp;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::schema_version;
use super::standings::rounds_completed;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoundsFile {
    pub schema_version: SmolStr,
    pub league_id: LeagueId,
    pub last_updated: Timestamp,
    /// Rounds in all; none before the schedule is made.
    pub total_rounds: u32,
    /// Rounds of which every result is in.
    pub rounds_completed: u32,
    /// Every round. In a large league only the current one lists its matches.
    pub rounds: Vec<ScheduledRound>,
}

impl RoundsFile {
    /// The rounds as they stand, of a league that is large when it has more than `match_files` matches.
    pub fn of(season: &Season, match_files: u64, now: Timestamp) -> Self {
        let schedule = season.schedule();
        let rounds = if schedule.total_matches() <= match_files { season.scheduled_rounds() } else { large(season) };
        Self {
            schema_version: schema_version(),
            league_id: season.config().league_id.clone(),
            last_updated: now,
            total_rounds: schedule.rounds(),
            rounds_completed: rounds_completed(season),
            rounds,
        }
    }
}

/// Without asking for half a million matches in order to throw them away.
fn large(season: &Season) -> Vec<ScheduledRound> {
    let (completed, current) = (rounds_completed(season), season.current_round());
    let bye = |round| season.schedule().bye(round).and_then(|place| season.players().get(place as usize));
    let rounds = (1..=season.schedule().rounds()).map(|round| {
        let id = league_protocol::id::RoundId(round);
        let listed = (current == Some(id)).then(|| season.scheduled_round(id)).flatten();
        listed.unwrap_or_else(|| ScheduledRound {
            round_id: id,
            completed: round <= completed,
            bye: bye(round).map(|player| player.id.clone()),
            matches: Vec::new(),
        })
    });
    rounds.collect()
}
