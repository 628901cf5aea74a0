//! What one side sent and signed in a match. The referee cannot check a signature; the manager can, by the report.

use league_protocol::draw::{DrawNonce, Signature};
use league_protocol::message::report::{PlayerSignatures, SignedIllegalMove};
use smol_str::SmolStr;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct SignedAnswers {
    /// As the side sent it; empty if it sent none.
    nonce: DrawNonce,
    join: Option<Signature>,
    /// One entry for each legal move.
    moves: Vec<Option<Signature>>,
    /// The last signed illegal move since the last legal one.
    illegal_move: Option<SignedIllegalMove>,
}

impl SignedAnswers {
    pub(super) fn joined(&mut self, nonce: DrawNonce, signature: Option<Signature>) {
        (self.nonce, self.join) = (nonce, signature);
    }

    pub(super) fn moved(&mut self, signature: Option<Signature>) {
        self.moves.push(signature);
        self.illegal_move = None;
    }

    /// An unsigned move replaces no signed one: a player must not be able to remove the evidence against it.
    pub(super) fn moved_illegally(&mut self, played: SmolStr, signature: Option<Signature>) {
        if let Some(signature) = signature {
            self.illegal_move = Some(SignedIllegalMove { played, signature });
        }
    }

    pub(super) fn nonce(&self) -> &DrawNonce {
        &self.nonce
    }

    /// Empty without any signature. An illegal move is evidence only against a side that lost by one.
    pub(super) fn evidence(&self, lost_by_illegal_moves: bool) -> PlayerSignatures {
        let illegal_move = self.illegal_move.clone().filter(|_| lost_by_illegal_moves);
        if self.join.is_none() && illegal_move.is_none() && self.moves.iter().all(Option::is_none) {
            return PlayerSignatures::default();
        }
        let draw_nonce = Some(self.nonce.clone()).filter(|nonce| !nonce.as_bytes().is_empty());
        PlayerSignatures { draw_nonce, join: self.join, moves: self.moves.clone(), combined: None, illegal_move }
    }
}
