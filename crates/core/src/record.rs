//! The result of a match as it is kept: what a bout hands over, a report carries and a season counts.

use league_protocol::draw::{DrawCommitment, DrawNonce, DrawSeal, DrawSecret};
use league_protocol::id::{GameType, MatchId};
use league_protocol::parity::Parity;
use league_protocol::side::{Pair, Side};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thiserror::Error;

use crate::game_match::MatchMachine;
use crate::game_match::ending::Ending;
use crate::rules::draw::{BadDraw, Draw};
use crate::rules::game::{DrawnNumber, GameStage};
use crate::rules::outcome::Outcome;
use crate::rules::registry::new_game;

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct MatchRecord {
    pub outcome: Outcome,
    /// The last move of each side, as far as one was received.
    pub moves: Pair<Option<SmolStr>>,
    /// The number, where one was drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<u8>,
    /// What proves the number. Referees of other make prove nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<RevealedDraw>,
}

/// Everything that a verifier needs beside the match and its attempt.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RevealedDraw {
    /// What was promised to the players.
    pub commitment: DrawCommitment,
    pub secret: DrawSecret,
    pub nonces: Pair<DrawNonce>,
    /// The bytes from which the number was taken. Referees of other make may not tell them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<DrawSeal>,
    /// Whether the secret came from a league's seed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seeded: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadRecord {
    /// The number is not what the draw gives.
    #[error("the draw cannot be right: {0}")]
    Draw(#[from] BadDraw),
    /// There is a proof, and nothing that it proves.
    #[error("a draw is proved, but no number is given")]
    NoNumber,
    /// The rules give another outcome for these moves and this number.
    #[error("the result does not follow from the moves and the number")]
    Outcome,
    /// Not a number from 1 to 10.
    #[error("a number from 1 to 10 is drawn, not {0}")]
    Range(u8),
}

impl MatchRecord {
    /// The record of a bout that has ended.
    pub fn of(bout: &MatchMachine, ending: &Ending, seeded: bool) -> Self {
        Self {
            outcome: ending.outcome,
            moves: ending.moves.clone(),
            drawn: ending.drawn.as_ref().map(|drawn| drawn.number.get()),
            proof: ending.drawn.as_ref().map(|drawn| RevealedDraw {
                commitment: bout.commitment(),
                secret: bout.terms().secret,
                nonces: drawn.nonces.clone(),
                seal: Some(drawn.seal),
                seeded,
            }),
        }
    }

    /// Whether the record holds together: the number follows from its proof, and the outcome from moves and number.
    ///
    /// What is not claimed is not checked: a game of many moves shows only its last ones, and without a number, or from a
    /// referee that tells no moves at all, there is nothing to follow from.
    pub fn check(&self, game: &GameType, match_id: &MatchId, attempt: u32) -> Result<(), BadRecord> {
        if let Some(proof) = &self.proof {
            let claimed = self.drawn.ok_or(BadRecord::NoNumber)?;
            let (secret, nonces) = (proof.secret, proof.nonces.clone());
            let draw = Draw { secret, match_id: match_id.clone(), attempt, nonces };
            draw.verify(&proof.commitment, proof.seal.as_ref(), claimed)?;
        }
        let Some(number) = self.drawn else { return Ok(()) };
        let number = DrawnNumber::new(number).ok_or(BadRecord::Range(number))?;
        if matches!(self.outcome, Outcome::Forfeit(_) | Outcome::DoubleForfeit) || self.moves == Pair::new(None, None) {
            return Ok(());
        }
        let replayed = new_game(game).and_then(|mut game| {
            for side in Side::BOTH {
                game.play(side, self.moves[side].as_ref()?).ok()?;
            }
            if game.stage() != GameStage::Draw {
                return None;
            }
            game.draw(number);
            match game.stage() {
                GameStage::Over(verdict) => Some(Outcome::from(verdict)),
                GameStage::Moves(_) | GameStage::Draw => None,
            }
        });
        match replayed {
            Some(outcome) if outcome == self.outcome => Ok(()),
            // A number was drawn, so two moves and that number decide: anything else contradicts them.
            Some(_) | None => Err(BadRecord::Outcome),
        }
    }

    /// In a sentence, why it ended so, as the rules of the game say it; nothing where moves and number do not tell.
    pub fn reason(&self, game: &GameType, names: Pair<&str>) -> Option<String> {
        match self.outcome {
            Outcome::Win(_) | Outcome::Draw => {}
            Outcome::Forfeit(_) | Outcome::DoubleForfeit => return None,
        }
        let mut game = new_game(game)?;
        for side in Side::BOTH {
            game.play(side, self.moves[side].as_ref()?).ok()?;
        }
        game.draw(DrawnNumber::new(self.drawn?)?);
        matches!(game.stage(), GameStage::Over(_)).then(|| game.reason(names))
    }

    /// The parity of the number, where one was drawn.
    pub fn parity(&self) -> Option<Parity> {
        self.drawn.map(Parity::of)
    }
}
