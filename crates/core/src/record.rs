//! The result of a match in memory and in the log. Wire, files, API and pages convert from it.

pub mod wire;

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
use crate::rules::game::{DrawnNumber, Game, GameStage, IllegalMove};
use crate::rules::outcome::Outcome;
use crate::rules::registry::new_game;

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct MatchRecord {
    pub outcome: Outcome,
    pub moves: Pair<Option<SmolStr>>,
    /// All moves in order, in a game of several turns; empty otherwise, because `moves` holds them all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub course: Vec<(Side, SmolStr)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<u8>,
    /// Foreign referees may send no proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Box<RevealedDraw>>,
}

/// Everything that a verifier needs besides the match and its attempt.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RevealedDraw {
    pub commitment: DrawCommitment,
    pub secret: DrawSecret,
    pub nonces: Pair<DrawNonce>,
    /// The bytes from which the number was derived. Foreign referees may omit them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<DrawSeal>,
    /// Whether the secret came from the league's seed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seeded: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadRecord {
    #[error("the draw cannot be right: {0}")]
    Draw(#[from] BadDraw),
    #[error("a draw is proved, but no number is given")]
    NoNumber,
    #[error("the result does not follow from the moves and the number")]
    Outcome,
    #[error("the moves are not legal: {0}")]
    Move(#[from] IllegalMove),
    #[error("a number from 1 to 10 is drawn, not {0}")]
    Range(u8),
}

impl MatchRecord {
    pub fn of(match_machine: &MatchMachine, ending: &Ending) -> Self {
        let terms = match_machine.terms();
        Self {
            outcome: ending.outcome,
            moves: ending.moves.clone(),
            course: ending.course.clone(),
            drawn: ending.drawn.as_ref().map(|drawn| drawn.number.get()),
            proof: ending.drawn.as_ref().map(|drawn| {
                Box::new(RevealedDraw {
                    commitment: match_machine.commitment(),
                    secret: terms.secret,
                    nonces: drawn.nonces.clone(),
                    seal: Some(drawn.seal),
                    seeded: terms.seeded,
                })
            }),
        }
    }

    pub fn unplayed(outcome: Outcome) -> Self {
        Self { outcome, moves: Pair::default(), course: Vec::new(), drawn: None, proof: None }
    }

    /// Leaves out the moves in order and the proof, which the log holds.
    #[must_use]
    pub fn summary(&self) -> Self {
        Self { moves: self.moves.clone(), drawn: self.drawn, ..Self::unplayed(self.outcome) }
    }

    /// Checks that the number follows from its proof, and the outcome from the moves and the number.
    ///
    /// An outcome is checked only with a number, or with all moves of a game of several turns. Foreign referees may not report
    /// them.
    pub fn check(&self, game: &GameType, match_id: &MatchId, attempt: u32) -> Result<(), BadRecord> {
        if let Some(proof) = &self.proof {
            let claimed = self.drawn.ok_or(BadRecord::NoNumber)?;
            let (secret, nonces, seeded) = (proof.secret, proof.nonces.clone(), proof.seeded);
            let draw = Draw { secret, match_id: match_id.clone(), attempt, nonces, seeded };
            draw.verify(&proof.commitment, proof.seal.as_ref(), claimed)?;
        }
        if let Some(number) = self.drawn {
            DrawnNumber::new(number).ok_or(BadRecord::Range(number))?;
        }
        let forfeited = matches!(self.outcome, Outcome::Forfeit(_) | Outcome::DoubleForfeit);
        let is_bare = self.drawn.is_none() || forfeited || self.moves == Pair::new(None, None);
        if self.course.is_empty() && is_bare {
            return Ok(());
        }
        let stage = self.replay(game, |_, _, _| {})?.stage();
        let follows = match stage {
            GameStage::Over(verdict) => Outcome::from(verdict) == self.outcome,
            GameStage::Moves(_) | GameStage::Draw => forfeited,
        };
        if follows { Ok(()) } else { Err(BadRecord::Outcome) }
    }

    /// Explains the result in a sentence; `None` when moves and number do not determine it.
    pub fn reason(&self, game: &GameType, names: Pair<&str>) -> Option<String> {
        let game = self.replay(game, |_, _, _| {}).ok()?;
        let is_played_out =
            matches!((game.stage(), self.outcome), (GameStage::Over(_), Outcome::Win(_) | Outcome::Draw));
        is_played_out.then(|| game.reason(names))
    }

    /// All moves in order.
    pub fn played(&self) -> impl Iterator<Item = (Side, &SmolStr)> {
        let only = Side::BOTH.into_iter().filter_map(|side| Some((side, self.moves[side].as_ref()?)));
        let only = only.filter(|_| self.course.is_empty());
        self.course.iter().map(|(side, text)| (*side, text)).chain(only)
    }

    /// Calls `before` with the game before each move.
    pub(crate) fn replay(
        &self,
        game: &GameType,
        mut before: impl FnMut(&dyn Game, Side, &SmolStr),
    ) -> Result<Box<dyn Game>, BadRecord> {
        let mut game = new_game(game).ok_or(BadRecord::Outcome)?;
        let mut moves = self.played();
        let mut number = self.drawn.and_then(DrawnNumber::new);
        loop {
            match (game.stage(), number) {
                (GameStage::Draw, Some(drawn)) => {
                    game.draw(drawn);
                    number = None;
                }
                (GameStage::Moves(_) | GameStage::Draw | GameStage::Over(_), _) => match moves.next() {
                    Some((side, text)) => {
                        before(&*game, side, text);
                        game.play(side, text)?;
                    }
                    None => return Ok(game),
                },
            }
        }
    }

    pub fn parity(&self) -> Option<Parity> {
        self.drawn.map(Parity::of)
    }
}
