//! What a game is to the rest of the league.
//!
//! A [`Game`] knows whose move it is, what a legal move looks like and who has won. It knows nothing of time, retries,
//! points or messages: those belong to the bout. Randomness is handed in: a game that needs a number says so by its
//! [`GameStage`] and is given one.

use std::fmt;

use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;
use thiserror::Error;

/// A number between 1 and 10.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DrawnNumber(u8);

impl DrawnNumber {
    /// `number`, when it is between 1 and 10.
    pub fn new(number: u8) -> Option<Self> {
        (1..=10).contains(&number).then_some(Self(number))
    }

    pub fn get(self) -> u8 {
        self.0
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameStage {
    /// Moves of the sides that are marked. Both at once means that neither sees the other's.
    Moves(Pair<bool>),
    Draw,
    Over(GameVerdict),
}

/// How a game ended by its own rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameVerdict {
    Win(Side),
    Draw,
}

/// A move that the rules do not allow, told so that its author can mend it.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{found:?} is not a move here: {allowed}")]
pub struct IllegalMove {
    /// What was offered, cut to a sensible length.
    pub found: String,
    /// What would have been a move.
    pub allowed: String,
}

impl IllegalMove {
    /// The longest offer that is told back whole, in characters: a peer may send anything, an error quotes a little of it.
    pub const QUOTED: usize = 64;

    /// `text` was offered where only what `allowed` says is a move.
    pub fn new(text: &str, allowed: impl Into<String>) -> Self {
        Self { found: text.chars().take(Self::QUOTED).collect(), allowed: allowed.into() }
    }
}

pub trait Game: fmt::Debug + Send {
    fn stage(&self) -> GameStage;

    /// Whether `text` is a legal move of `side` now.
    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove>;

    /// Takes `text` as the move of `side`. Refused, and nothing changed, when it is not this side's turn or no legal move.
    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove>;

    /// Takes the number that [`GameStage::Draw`] asks for; of no effect at any other stage.
    fn draw(&mut self, number: DrawnNumber);

    /// The last move of each side, as it was played; for a game of one move, the choice.
    fn moves(&self) -> Pair<Option<SmolStr>>;

    /// What `side` may see of the game so far, as one line of text: its board, or nothing.
    fn view(&self, side: Side) -> SmolStr;

    /// In a sentence, why it ended as it did, with the players called by `names`.
    fn reason(&self, names: Pair<&str>) -> String;
}
