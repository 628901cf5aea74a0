//! Signed joins and moves. A player signs under the digest of its token, so the manager can check what the referee reports, and
//! the referee can forge nothing. A tag keeps a join from passing as a move.

use crate::draw::{DrawCommitment, DrawNonce, Signature};
use crate::id::{LeagueId, MatchId, RefereeId};
use crate::seal::digest;
use crate::token::TokenDigest;

#[derive(Clone, Copy, Debug)]
pub struct SignedJoin<'a> {
    pub league: &'a LeagueId,
    pub match_id: &'a MatchId,
    pub attempt: u32,
    pub referee: &'a RefereeId,
    /// As the invitation shows it.
    pub commitment: Option<DrawCommitment>,
    pub nonce: &'a DrawNonce,
}

#[derive(Clone, Copy, Debug)]
pub struct SignedMove<'a> {
    pub league: &'a LeagueId,
    pub match_id: &'a MatchId,
    pub turn: MoveTurn,
    pub view: ViewDigest,
    pub played: &'a str,
}

/// Which move of a match it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MoveTurn {
    pub attempt: u32,
    /// The game of the match, from one.
    pub game: u32,
    /// The move of this player in the game, from one.
    pub turn: u32,
}

/// The SHA-256 of what the referee showed the player before it moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ViewDigest(pub [u8; 32]);

impl ViewDigest {
    pub fn of(view: &str) -> Self {
        Self(digest(view.as_bytes()))
    }
}

impl SignedJoin<'_> {
    pub fn sign(&self, key: &TokenDigest) -> Signature {
        let commitment = self.commitment.as_ref().map_or(&[][..], |commitment| &commitment.0);
        Signature(key.seal(&[
            b"join",
            self.league.as_str().as_bytes(),
            self.match_id.as_str().as_bytes(),
            &self.attempt.to_be_bytes(),
            self.referee.as_str().as_bytes(),
            commitment,
            self.nonce.as_bytes(),
        ]))
    }
}

impl SignedMove<'_> {
    pub fn sign(&self, key: &TokenDigest) -> Signature {
        let MoveTurn { attempt, game, turn } = self.turn;
        Signature(key.seal(&[
            b"move",
            self.league.as_str().as_bytes(),
            self.match_id.as_str().as_bytes(),
            &attempt.to_be_bytes(),
            &game.to_be_bytes(),
            &turn.to_be_bytes(),
            &self.view.0,
            self.played.as_bytes(),
        ]))
    }
}
