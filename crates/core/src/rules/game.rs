//! The interface between a game and the rest of the league.
//!
//! A [`Game`] knows whose turn it is, which moves are legal and which side has won. Time, retries, points and messages belong to
//! the match. A game makes no random choices: it asks for a number by its [`GameStage`].

use std::fmt;

use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;
use thiserror::Error;

/// From 1 to 10.
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameStage {
    /// The marked sides owe a move. If both are marked, neither sees the other's move.
    Moves(Pair<bool>),
    Draw,
    Over(GameVerdict),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameVerdict {
    Win(Side),
    Draw,
}

/// Says what the player can send instead.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{found:?} is not a move here: {allowed}")]
pub struct IllegalMove {
    pub found: String,
    pub allowed: String,
}

impl IllegalMove {
    /// How many characters of a move an error quotes: a peer may send anything.
    pub const QUOTED: usize = 64;

    pub fn new(text: &str, allowed: impl Into<String>) -> Self {
        Self { found: text.chars().take(Self::QUOTED).collect(), allowed: allowed.into() }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameInfo {
    pub name: &'static str,
    /// For a player that has never seen the game.
    pub rules: &'static str,
    /// How often, at most, the referee waits for moves in one match. Simultaneous moves count once.
    pub max_turns: u32,
}

pub trait Game: fmt::Debug + Send {
    fn info(&self) -> GameInfo;

    fn stage(&self) -> GameStage;

    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove>;

    /// An illegal move changes nothing.
    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove>;

    /// Takes the number that [`GameStage::Draw`] asks for. It has no effect at any other stage.
    fn draw(&mut self, _number: DrawnNumber) {}

    /// Empty when it is not this side's turn, or when there are too many moves to list.
    fn legal_moves(&self, _side: Side) -> Vec<SmolStr> {
        Vec::new()
    }

    /// What `side` may see of the game, as one line of text; may be empty.
    fn view(&self, side: Side) -> SmolStr;

    fn reason(&self, names: Pair<&str>) -> String;
}
