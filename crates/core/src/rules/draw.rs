//! Provable draws: the referee commits to a secret, the players add nonces, the referee reveals the secret afterwards.
//!
//! The number depends on the secret, the match, the attempt and both nonces. A league with a seed leaves out the attempt, so that a
//! match that is played again has the same number. Before they move, the players see only the
//! commitment and cannot compute the number. The referee fixes the secret before it sees the nonces, so it cannot choose the
//! number. `Draw::verify` needs only published values.
//!
//! One of ten numbers can match by chance after a field was changed. The seal, 32 bytes published with the secret, detects every
//! change.

use league_protocol::draw::{DrawCommitment, DrawNonce, DrawSeal, DrawSecret};
use league_protocol::id::MatchId;
use league_protocol::seal::seal;
use league_protocol::side::Pair;
use thiserror::Error;

use super::chance::ChanceStream;
use super::game::DrawnNumber;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Draw {
    pub secret: DrawSecret,
    pub match_id: MatchId,
    /// From one.
    pub attempt: u32,
    /// The nonces that enter the draw. A nonce is empty if neither the player nor the manager sent one.
    pub nonces: Pair<DrawNonce>,
    /// Whether the secret came from the league's seed.
    pub seeded: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadDraw {
    #[error("the secret does not belong to the commitment")]
    Commitment,
    /// The secret, match, attempt, a nonce or the seal was changed.
    #[error("the seal does not belong to this secret, match, attempt and nonces")]
    Seal,
    #[error("the draw gives {expected}, but {claimed} was claimed")]
    Number { expected: u8, claimed: u8 },
}

/// The attempt as it enters the seal: zero in a league with a seed, so that every attempt at a match has the same number.
pub fn sealed_attempt(attempt: u32, seeded: bool) -> u32 {
    if seeded { 0 } else { attempt }
}

impl Draw {
    /// Binds the number to everything that decides it.
    pub fn seal(&self) -> DrawSeal {
        let attempt = sealed_attempt(self.attempt, self.seeded);
        DrawSeal(seal(
            &self.secret.0,
            &[
                self.match_id.as_str().as_bytes(),
                &attempt.to_be_bytes(),
                self.nonces.a.as_bytes(),
                self.nonces.b.as_bytes(),
            ],
        ))
    }

    pub fn number(&self) -> DrawnNumber {
        self.number_in(&self.seal())
    }

    /// Takes this draw's [`seal`](Self::seal) from the caller, to hash it only once.
    ///
    /// The first byte of the seal below 250 gives the number, as 1 + byte mod 10. Skipping 250 to 255 makes all ten numbers
    /// equally likely. If all 32 bytes are skipped, the seal of the seal continues.
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

    /// The number of a game of a match of several games, from one.
    pub fn number_of_game(&self, game: u32) -> DrawnNumber {
        let later = if game > 1 { self.chance(game).drawn_number() } else { None };
        later.unwrap_or_else(|| self.number())
    }

    /// The chance of a game of the match, from one.
    pub fn chance(&self, game: u32) -> ChanceStream {
        ChanceStream::new(self.clone(), game)
    }

    /// Whether everything that decides the chance of the match is what `commitment` bound. Without a `published` seal only the
    /// secret is compared.
    pub fn verify_seal(&self, commitment: &DrawCommitment, published: Option<&DrawSeal>) -> Result<DrawSeal, BadDraw> {
        if self.secret.commitment() != *commitment {
            return Err(BadDraw::Commitment);
        }
        let own_seal = self.seal();
        if published.is_some_and(|published| *published != own_seal) {
            return Err(BadDraw::Seal);
        }
        Ok(own_seal)
    }

    /// Whether `claimed` is the number that `commitment` bound, from published values alone.
    ///
    /// The `published` seal reveals every changed field. A foreign referee may publish none; then only the number is compared,
    /// and one change in ten passes.
    pub fn verify(
        &self,
        commitment: &DrawCommitment,
        published: Option<&DrawSeal>,
        claimed: u8,
    ) -> Result<(), BadDraw> {
        let own_seal = self.verify_seal(commitment, published)?;
        let expected = self.number_in(&own_seal).get();
        if expected == claimed { Ok(()) } else { Err(BadDraw::Number { expected, claimed }) }
    }
}
