//! `history.json`: the matches that a player remembers, written by the player.

use league_core::session::History;
use league_protocol::id::PlayerId;
use league_protocol::message::game_over::OwnResult;
use league_protocol::time::Timestamp;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::schema_version;
use crate::checksum;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HistoryFile {
    pub schema_version: SmolStr,
    pub player_id: PlayerId,
    pub last_updated: Timestamp,
    pub stats: HistoryStats,
    /// The oldest match first.
    pub matches: History,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct HistoryStats {
    pub total_matches: u32,
    pub wins: u32,
    /// Technical losses included.
    pub losses: u32,
    pub draws: u32,
}

impl HistoryFile {
    pub fn of(player_id: PlayerId, matches: History, now: Timestamp) -> Self {
        let mut stats = HistoryStats::default();
        for played in matches.matches() {
            stats.total_matches += 1;
            match played.result {
                OwnResult::Win => stats.wins += 1,
                OwnResult::Loss | OwnResult::TechnicalLoss => stats.losses += 1,
                OwnResult::Draw => stats.draws += 1,
            }
        }
        Self { schema_version: schema_version(), player_id, last_updated: now, stats, matches }
    }

    /// One line for each match, and a checksum.
    pub fn text(&self) -> serde_json::Result<Vec<u8>> {
        #[derive(Serialize)]
        struct Head<'a> {
            schema_version: &'a SmolStr,
            player_id: &'a PlayerId,
            last_updated: Timestamp,
            stats: HistoryStats,
        }
        let Self { schema_version, player_id, last_updated, stats, matches } = self;
        let head = Head { schema_version, player_id, last_updated: *last_updated, stats: *stats };
        let mut text = serde_json::to_vec_pretty(&head)?;
        text.truncate(text.len() - "\n}".len());
        text.extend_from_slice(b",\n  \"matches\": [");
        for (number, played) in matches.matches().iter().enumerate() {
            text.extend_from_slice(if number == 0 { b"\n    " } else { b",\n    " });
            serde_json::to_writer(&mut text, played)?;
        }
        text.extend_from_slice(if matches.matches().is_empty() { b"]\n}\n" } else { b"\n  ]\n}\n" });
        Ok(checksum::add(text))
    }
}
