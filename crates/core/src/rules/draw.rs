//! Draws that can be proved: committed before anybody plays, mixed with what the players add, revealed afterwards.
//!
//! The number is a function of the secret, the match, the attempt and both nonces. The players see only the commitment
//! before they move, so they cannot compute it; the referee fixed the secret before it saw the nonces, so it cannot choose
//! it; and afterwards [`Draw::verify`] needs nothing but what was published.
//!
//! Ten numbers cannot tell whether a field was changed; the seal, 32 bytes that are published with the secret, can.

use league_protocol::draw::{DrawCommitment, DrawNonce, DrawSeal, DrawSecret};
use league_protocol::id::MatchId;
use league_protocol::seal::seal;
use league_protocol::side::Pair;
use thiserror::Error;

use super::game::DrawnNumber;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Draw {
    pub secret: DrawSecret,
    /// The match it was made for.
    pub match_id: MatchId,
    /// The attempt at this match, from one.
    pub attempt: u32,
    /// What the players added; empty where one added nothing.
    pub nonces: Pair<DrawNonce>,
}

/// Why a draw is not what was promised.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadDraw {
    /// Another secret than the one that was committed to.
    #[error("the secret does not belong to the commitment")]
    Commitment,
    /// Another seal than secret, match, attempt and nonces give: one of them was changed, or the seal was.
    #[error("the seal does not belong to this secret, match, attempt and nonces")]
    Seal,
    /// Another number than secret, match, attempt and nonces give.
    #[error("the draw gives {expected}, but {claimed} was claimed")]
    Number { expected: u8, claimed: u8 },
}

impl Draw {
    /// What binds the number to everything that decides it.
    pub fn seal(&self) -> DrawSeal {
        DrawSeal(seal(
            &self.secret.0,
            &[
                self.match_id.as_str().as_bytes(),
                &self.attempt.to_be_bytes(),
                self.nonces.a.as_bytes(),
                self.nonces.b.as_bytes(),
            ],
        ))
    }

    pub fn number(&self) -> DrawnNumber {
        self.number_in(&self.seal())
    }

    /// The number, for who has made this draw's [`seal`](Self::seal) already: hashing it once is enough.
    ///
    /// Bytes of the seal are taken in order; the first one below 250 decides, as 1 + byte mod 10. Leaving out 250 to 255
    /// makes all ten numbers equally likely. Should all 32 be left out, the seal of the seal goes on.
    pub fn number_in(&self, own_seal: &DrawSeal) -> DrawnNumber {
        let mut block = own_seal.0;
        loop {
            let fair = block.iter().find(|byte| **byte < 250);
            if let Some(number) = fair.and_then(|byte| DrawnNumber::new(1 + byte % 10)) {
                return number;
            }
            block = seal(&self.secret.0, &[&block]);
        }
    }

    /// Whether `claimed` is the number that was bound by `commitment`: for anybody, from published values alone.
    ///
    /// With the `published` seal every changed field is noticed. A referee of other make may publish none; then the number
    /// alone is compared, and one change in ten passes.
    pub fn verify(
        &self,
        commitment: &DrawCommitment,
        published: Option<&DrawSeal>,
        claimed: u8,
    ) -> Result<(), BadDraw> {
        if self.secret.commitment() != *commitment {
            return Err(BadDraw::Commitment);
        }
        let own_seal = self.seal();
        if published.is_some_and(|published| *published != own_seal) {
            return Err(BadDraw::Seal);
        }
        let expected = self.number_in(&own_seal).get();
        if expected == claimed { Ok(()) } else { Err(BadDraw::Number { expected, claimed }) }
    }
}
