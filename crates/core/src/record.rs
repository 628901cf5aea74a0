//! The result of a match in memory and in the log. Wire, files, API and pages convert from it.

pub mod wire;

use std::num::NonZeroU32;

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
use crate::rules::game::{DrawnNumber, Game, GameStage, GameVerdict, IllegalMove};
use crate::rules::outcome::Outcome;
use crate::rules::registry::new_game;
use crate::rules::series::Series;

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct MatchRecord {
    pub outcome: Outcome,
    pub moves: Pair<Option<SmolStr>>,
    /// How many games the match has.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub games: NonZeroU32,
    /// All moves in order, in a match of several turns; empty otherwise, because `moves` holds them all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub course: Vec<(Side, SmolStr)>,
    /// The number of the last game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<u8>,
    /// Of the games, where the verdict of the match is a score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Pair<i32>>,
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
    #[error("the cards or numbers of the game are not proved")]
    NoProof,
    #[error("the result does not follow from the moves and the number")]
    Outcome,
    #[error("the number of the last game does not follow from the proof")]
    Number,
    #[error("the score does not follow from the moves")]
    Score,
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
            games: terms.games,
            course: ending.course.clone(),
            drawn: ending.drawn.map(DrawnNumber::get),
            score: ending.score,
            proof: ending.sealed.as_ref().map(|sealed| {
                Box::new(RevealedDraw {
                    commitment: match_machine.commitment(),
                    secret: terms.secret,
                    nonces: sealed.nonces.clone(),
                    seal: Some(sealed.seal),
                    seeded: terms.seeded,
                })
            }),
        }
    }

    pub fn unplayed(outcome: Outcome) -> Self {
        Self {
            outcome,
            moves: Pair::default(),
            games: NonZeroU32::MIN,
            course: Vec::new(),
            drawn: None,
            score: None,
            proof: None,
        }
    }

    /// Leaves out the moves in order and the proof, which the log holds.
    #[must_use]
    pub fn summary(&self) -> Self {
        Self {
            moves: self.moves.clone(),
            games: self.games,
            drawn: self.drawn,
            score: self.score,
            ..Self::unplayed(self.outcome)
        }
    }

    /// What decides the chance of attempt `attempt` at `match_id`; `None` without a proof.
    fn revealed(&self, match_id: &MatchId, attempt: u32) -> Option<Draw> {
        let RevealedDraw { secret, nonces, seeded, .. } = self.proof.as_deref()?;
        Some(Draw { secret: *secret, match_id: match_id.clone(), attempt, nonces: nonces.clone(), seeded: *seeded })
    }

    /// Checks that all chance follows from its proof, and the outcome from the moves and the chance.
    ///
    /// The outcome of Even/Odd is checked only with a number, and that of a game of several turns only with its moves: foreign
    /// referees may not report them. A game with cards needs its moves and its proof.
    pub fn check(&self, game: &GameType, match_id: &MatchId, attempt: u32) -> Result<(), BadRecord> {
        if let (Some(proof), Some(draw)) = (&self.proof, self.revealed(match_id, attempt)) {
            match self.drawn {
                Some(claimed) if self.games == NonZeroU32::MIN => {
                    draw.verify(&proof.commitment, proof.seal.as_ref(), claimed)?;
                }
                None if needs_number(game) && self.games == NonZeroU32::MIN => return Err(BadRecord::NoNumber),
                Some(_) | None => drop(draw.verify_seal(&proof.commitment, proof.seal.as_ref())?),
            }
        }
        if let Some(number) = self.drawn {
            DrawnNumber::new(number).ok_or(BadRecord::Range(number))?;
        }
        let forfeited = matches!(self.outcome, Outcome::Forfeit(_) | Outcome::DoubleForfeit);
        let about = new_game(game).ok_or(BadRecord::Outcome)?.about();
        let is_bare = match () {
            () if !self.course.is_empty() => false,
            () if forfeited => true,
            () if self.games > NonZeroU32::MIN => false,
            () if needs_number(game) => self.drawn.is_none() || self.moves == Pair::new(None, None),
            () if about.chance => false,
            () => about.max_turns > 1 || self.moves == Pair::new(None, None),
        };
        if is_bare {
            return if self.score.is_none() { Ok(()) } else { Err(BadRecord::Score) };
        }
        let played = self.replay(game, (match_id, attempt), |_, _, _| {})?;
        if self.games > NonZeroU32::MIN && played.number_drawn().map(DrawnNumber::get) != self.drawn {
            return Err(BadRecord::Number);
        }
        let (follows, score) = match played.stage() {
            GameStage::Over(verdict @ GameVerdict::Score(score)) => {
                (Outcome::from(verdict) == self.outcome, Some(score))
            }
            GameStage::Over(verdict) => (Outcome::from(verdict) == self.outcome, None),
            GameStage::Moves(_) | GameStage::Draw | GameStage::Chance(_) => (forfeited, None),
        };
        match () {
            () if !follows => Err(BadRecord::Outcome),
            () if self.score != score => Err(BadRecord::Score),
            () => Ok(()),
        }
    }

    /// Explains the result in a sentence; `None` when moves and chance do not determine it.
    pub fn reason(&self, game: &GameType, attempt: (&MatchId, u32), names: Pair<&str>) -> Option<String> {
        let game = self.replay(game, attempt, |_, _, _| {}).ok()?;
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

    /// Plays the moves again, with the chance that the proof gives. Calls `before` with the game before each move.
    pub fn replay(
        &self,
        game: &GameType,
        (match_id, attempt): (&MatchId, u32),
        mut before: impl FnMut(&Series, Side, &SmolStr),
    ) -> Result<Series, BadRecord> {
        let mut game = Series::new(new_game(game).ok_or(BadRecord::Outcome)?, self.games);
        let draw = self.revealed(match_id, attempt);
        let mut moves = self.played();
        let mut number = self.drawn.and_then(DrawnNumber::new).filter(|_| self.games == NonZeroU32::MIN);
        loop {
            match (game.stage(), number, &draw) {
                (GameStage::Draw, Some(drawn), _) => {
                    game.draw(drawn);
                    number = None;
                }
                // The record has the number of one game only; those of several games follow from the proof.
                (GameStage::Draw, None, Some(draw)) if self.games > NonZeroU32::MIN => {
                    let drawn = game.drawn_number(draw, &draw.seal());
                    game.draw(drawn);
                }
                (GameStage::Chance(_), _, Some(draw)) => game.serve_chance(draw).map_err(|_| BadRecord::Outcome)?,
                // A technical loss before the first move needs no cards.
                (GameStage::Chance(_), _, None) if self.is_unmoved() => return Ok(game),
                (GameStage::Chance(_), _, None) => return Err(BadRecord::NoProof),
                (GameStage::Moves(_) | GameStage::Draw | GameStage::Over(_), _, _) => match moves.next() {
                    Some((side, text)) => {
                        before(&game, side, text);
                        game.play(side, text)?;
                    }
                    None => return Ok(game),
                },
            }
        }
    }

    fn is_unmoved(&self) -> bool {
        self.played().next().is_none() && !matches!(self.outcome, Outcome::Win(_) | Outcome::Draw)
    }

    pub fn parity(&self) -> Option<Parity> {
        self.drawn.map(Parity::of)
    }
}

pub(crate) fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

pub(crate) fn is_one(games: &NonZeroU32) -> bool {
    *games == NonZeroU32::MIN
}

/// Whether the game draws a number that messages name.
fn needs_number(game: &GameType) -> bool {
    *game == GameType::even_odd()
}
