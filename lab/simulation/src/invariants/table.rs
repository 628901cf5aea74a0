//! An independent, simple count of the standings.

use std::collections::BTreeMap;

use league_core::rules::outcome::Outcome;
use league_protocol::id::PlayerId;
use league_protocol::message::standings::StandingsRow;
use league_protocol::side::{Pair, Side};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Row {
    played: u32,
    wins: u32,
    draws: u32,
    losses: u32,
    byes: u32,
}

impl Row {
    fn points(self) -> u32 {
        3 * (self.wins + self.byes) + self.draws
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Table(BTreeMap<PlayerId, Row>);

impl Table {
    pub(super) fn count(&mut self, players: Pair<&PlayerId>, outcome: Outcome) {
        for side in Side::BOTH {
            let row = self.0.entry(PlayerId::clone(players[side])).or_default();
            row.played += 1;
            match outcome.winner() {
                None => row.draws += 1,
                Some(winner) if winner == side => row.wins += 1,
                Some(_) => row.losses += 1,
            }
        }
    }

    pub(super) fn count_bye(&mut self, player: &PlayerId) {
        self.0.entry(player.clone()).or_default().byes += 1;
    }

    pub(super) fn compare(&self, rows: &[StandingsRow]) -> Result<(), String> {
        for row in rows {
            let counted = self.0.get(&row.player_id).copied().unwrap_or_default();
            let byes = counted.byes;
            let shown = Row { played: row.played, wins: row.wins, draws: row.draws, losses: row.losses, byes };
            if shown != counted || row.points != counted.points() {
                return Err(format!("the table is wrong about {}: {row:?} instead of {counted:?}", row.player_id));
            }
        }
        Ok(())
    }
}
