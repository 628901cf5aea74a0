//! The only conversion from a record to a message. `Season::read_report` converts back.

use league_protocol::id::PlayerId;
use league_protocol::message::game_over::{ByPlayer, DrawProof, GameResult};
use league_protocol::message::report::{ReportedMove, ReportedResult, ResultDetails};
use league_protocol::message::start_match::{DoubleForfeit, MatchPoints};
use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use super::MatchRecord;

impl MatchRecord {
    pub fn game_result(&self, players: Pair<&PlayerId>, double_forfeit: DoubleForfeit, reason: String) -> GameResult {
        GameResult {
            status: Some(self.outcome.status(double_forfeit)),
            winner_player_id: self.outcome.winner().map(|side| players[side].clone()),
            drawn_number: self.drawn,
            number_parity: self.parity(),
            choices: by_player(players, self.moves.clone()).received(),
            reason,
        }
    }

    /// For the manager and for match files, without the proof.
    pub fn reported(&self, players: Pair<&PlayerId>, worth: &MatchPoints, reason: Option<SmolStr>) -> ReportedResult {
        let forfeits = Side::BOTH.into_iter().filter(|side| self.outcome.forfeited(*side));
        ReportedResult {
            winner: self.outcome.winner().map(|side| players[side].clone()),
            score: by_player(players, self.outcome.points(worth)),
            details: ResultDetails {
                drawn_number: self.drawn,
                number_parity: self.parity(),
                choices: by_player(players, self.moves.clone()).received(),
                status: Some(self.outcome.status(worth.double_forfeit)),
                technical_losses: forfeits.map(|side| players[side].clone()).collect(),
                reason,
                draw: None,
                game_score: self.score.map(|score| by_player(players, score)),
                games_per_match: Some(self.games.get()).filter(|games| *games > 1),
                coded_moves: None,
                moves: self.course.iter().map(|(side, played)| reported_move(players[*side], played)).collect(),
            },
        }
    }

    pub fn draw_proof(&self, players: Pair<&PlayerId>, attempt: u32) -> Option<DrawProof> {
        self.proof.as_ref().map(|proof| DrawProof {
            commitment: proof.commitment,
            secret: proof.secret,
            attempt,
            nonces: by_player(players, proof.nonces.clone()),
            seal: proof.seal,
            seeded: proof.seeded,
        })
    }
}

pub(crate) fn reported_move(player: &PlayerId, played: &SmolStr) -> ReportedMove {
    ReportedMove { player_id: player.clone(), played: played.clone() }
}

pub fn by_player<T>(players: Pair<&PlayerId>, entries: Pair<T>) -> ByPlayer<T> {
    ByPlayer(vec![(players.a.clone(), entries.a), (players.b.clone(), entries.b)])
}
