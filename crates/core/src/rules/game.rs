//! The interface between a game and the rest of the league.
//!
//! A [`Game`] knows whose move it is, which moves are legal and who has won. It knows nothing of time, retries, points or
//! messages: those belong to the match. It makes no random choices: a game that needs a number says so by its
//! [`GameStage`] and is given one.

use std::fmt;

use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;
use thiserror::Error;

/// A number between 1 and 10.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DrawnNumber(u8);

impl DrawnNumber {
    pub fn new(number: u8) -> Option<Self> {
        (1..=10).contains(&number).then_some(Self(number))
    }

    pub fn get(self) -> u8 {
        self.0
    }
}

/// What a game waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameStage {
    /// Moves of the marked sides. Where both are marked, neither sees the other's move.
    Moves(Pair<bool>),
    /// A random number.
    Draw,
    Over(GameVerdict),
}

/// How a game ended by its own rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameVerdict {
    Win(Side),
    Draw,
}

/// A move that the rules do not allow, with what its author can send instead.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{found:?} is not a move here: {allowed}")]
pub struct IllegalMove {
    pub found: String,
    pub allowed: String,
}

impl IllegalMove {
    /// How much of a move an error quotes, in characters: a peer may send anything.
    pub const QUOTED: usize = 64;

    pub fn new(text: &str, allowed: impl Into<String>) -> Self {
        Self { found: text.chars().take(Self::QUOTED).collect(), allowed: allowed.into() }
    }
}

/// What holds for every match of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameInfo {
    /// The name that people read.
    pub name: &'static str,
    /// The rules, for a player that has never seen the game.
    pub rules: &'static str,
    /// How often, at most, the referee waits for moves in one match. Moves that both make at once count once.
    pub longest_course: u32,
}

/// One game in progress.
pub trait Game: fmt::Debug + Send {
    fn info(&self) -> GameInfo;

    fn stage(&self) -> GameStage;

    /// Checks whether `text` is a legal move of `side` now.
    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove>;

    /// Plays `text` as the move of `side`. An illegal move changes nothing.
    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove>;

    /// Takes the number that [`GameStage::Draw`] asks for. It has no effect at any other stage.
    fn draw(&mut self, _number: DrawnNumber) {}

    /// Every legal move of `side` now. Empty when it is not this side's turn, or when there are too many to list.
    fn legal_moves(&self, _side: Side) -> Vec<SmolStr> {
        Vec::new()
    }

    /// What `side` may see of the game so far, as one line of text. Empty where there is nothing to see.
    fn view(&self, side: Side) -> SmolStr;

    /// One sentence about how the game stands or ended, with the players called by `names`.
    fn reason(&self, names: Pair<&str>) -> String;
}
