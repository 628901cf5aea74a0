//! The moves that a player made in an attempt. Each question gets its first answer again.

use league_protocol::draw::{DrawSeal, Signature};
use league_protocol::id::{LeagueId, MatchId};
use league_protocol::message::evidence::MoveDeposit;
use league_protocol::signature::{MoveTurn, ViewDigest};
use smol_str::SmolStr;

/// The most unsigned moves per attempt: more than our games have, and a bound on hostile referees.
const MAX_UNSIGNED: usize = 64;
/// The most signed moves per attempt, in the last two games of the match. A signed move of these games is never forgotten, and the
/// player answers no question about an earlier game: it could sign another move for the same turn.
const MAX_SIGNED: usize = 512;

/// What a referee asks for. A digest identifies the view, so memory does not depend on its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    /// `None` if the referee does not number its calls.
    pub(super) turn: Option<MoveTurn>,
    pub(super) view: ViewDigest,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct MadeMove {
    pub(super) position: Position,
    pub(super) played: SmolStr,
    pub(super) signature: Option<Signature>,
    pub(super) deposited: bool,
}

impl MadeMove {
    /// The deposit of a signed move, the first time.
    pub(super) fn deposit(&mut self, league: &LeagueId, match_id: &MatchId) -> Option<MoveDeposit> {
        let (turn, signature) = (self.position.turn?, self.signature?);
        if std::mem::replace(&mut self.deposited, true) {
            return None;
        }
        Some(MoveDeposit {
            league_id: Some(league.clone()),
            match_id: match_id.clone(),
            attempt: turn.attempt,
            game_number: turn.game,
            turn: turn.turn,
            view_sha256: DrawSeal(self.position.view.0),
            played: self.played.clone(),
            signature,
        })
    }
}

/// The newest last.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct MadeMoves {
    list: Vec<MadeMove>,
    /// How many signed moves of earlier games were dropped.
    dropped: usize,
    /// The first game whose moves are kept.
    first_game: u32,
}

impl MadeMoves {
    pub(super) fn count(&self) -> usize {
        self.list.len() + self.dropped
    }

    /// Whether the moves of this game were dropped.
    pub(super) fn has_closed(&self, game: u32) -> bool {
        game < self.first_game
    }

    pub(super) fn at(&mut self, position: &Position) -> Option<&mut MadeMove> {
        self.list.iter_mut().rfind(|made| made.position == *position)
    }

    pub(super) fn signed_in(&mut self, turn: &MoveTurn) -> Option<&mut MadeMove> {
        self.signed_mut().find(|made| made.position.turn.as_ref() == Some(turn))
    }

    pub(super) fn last(&self) -> Option<&SmolStr> {
        self.list.last().map(|made| &made.played)
    }

    pub(super) fn signed(&self) -> impl DoubleEndedIterator<Item = &MadeMove> {
        self.list.iter().filter(|made| made.signature.is_some())
    }

    pub(super) fn signed_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut MadeMove> {
        self.list.iter_mut().filter(|made| made.signature.is_some())
    }

    /// Returns false if there is no room for another signed move.
    pub(super) fn has_room(&self) -> bool {
        self.signed().count() < MAX_SIGNED
    }

    /// Drops the oldest unsigned move of a full list, and the moves of all games before the previous one.
    pub(super) fn add(&mut self, made: MadeMove) {
        let game = made.position.turn.filter(|_| made.signature.is_some()).map_or(0, |turn| turn.game);
        if game.saturating_sub(1) > self.first_game {
            self.first_game = game - 1;
            let (first, before) = (self.first_game, self.list.len());
            self.list.retain(|made| made.position.turn.is_none_or(|turn| turn.game >= first));
            self.dropped += before - self.list.len();
        }
        let unsigned = |made: &MadeMove| made.signature.is_none();
        if self.list.iter().filter(|made| unsigned(made)).count() == MAX_UNSIGNED
            && let Some(oldest) = self.list.iter().position(unsigned)
        {
            self.list.remove(oldest);
        }
        self.list.push(made);
    }
}
