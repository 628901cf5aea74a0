//! Test games: one with turns and no draw, and one that tests the limits of the `Game` contract.

use league_protocol::side::{Pair, Side};
use smol_str::{SmolStr, ToSmolStr};

use crate::rules::game::{About, Game, GameStage, GameVerdict, IllegalMove};

/// The sides take one or two from a heap in turn. The side that takes the last one wins.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    left: u8,
    next: Side,
}

impl Heap {
    pub(super) fn of(left: u8) -> Self {
        Self { left, next: Side::A }
    }

    fn taken(&self, side: Side, text: &str) -> Result<u8, IllegalMove> {
        let taken = text.parse::<u8>().ok().filter(|taken| (1..=2).contains(taken) && *taken <= self.left);
        let illegal = || IllegalMove { found: text.to_owned(), allowed: "1 or 2".to_owned() };
        taken.filter(|_| side == self.next).ok_or_else(illegal)
    }
}

impl Game for Heap {
    fn about(&self) -> About {
        About { name: "Heap", max_turns: 250, ..About::PLAIN }
    }

    fn stage(&self) -> GameStage {
        if self.left == 0 {
            return GameStage::Over(GameVerdict::Win(self.next.other()));
        }
        GameStage::Moves(Pair::from_fn(|side| side == self.next))
    }

    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.taken(side, text).map(drop)
    }

    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.left -= self.taken(side, text)?;
        self.next = side.other();
        Ok(())
    }

    fn view(&self, _: Side) -> SmolStr {
        self.left.to_smolstr()
    }

    fn reason(&self, names: Pair<&str>) -> String {
        format!("{} took the last.", names[self.next.other()])
    }
}

/// A game in which every move is legal and a function decides the stage from the sides that have moved.
#[derive(Clone, Debug)]
pub(super) struct Scripted {
    stage: fn(&[Side]) -> GameStage,
    movers: Vec<Side>,
}

impl Scripted {
    pub(super) fn new(stage: fn(&[Side]) -> GameStage) -> Self {
        Self { stage, movers: Vec::new() }
    }
}

impl Game for Scripted {
    fn about(&self) -> About {
        About { name: "Scripted", max_turns: 250, ..About::PLAIN }
    }

    fn stage(&self) -> GameStage {
        (self.stage)(&self.movers)
    }

    fn check(&self, _: Side, _: &str) -> Result<(), IllegalMove> {
        Ok(())
    }

    fn play(&mut self, side: Side, _: &str) -> Result<(), IllegalMove> {
        self.movers.push(side);
        Ok(())
    }

    fn view(&self, _: Side) -> SmolStr {
        SmolStr::default()
    }

    fn reason(&self, _: Pair<&str>) -> String {
        String::new()
    }
}

/// The stage of a game of `moves` moves in which the side that moves first makes all of them and wins.
pub(super) fn race(moves: usize, movers: &[Side]) -> GameStage {
    match movers.first() {
        Some(first) if movers.len() == moves => GameStage::Over(GameVerdict::Win(*first)),
        first => GameStage::Moves(Pair::from_fn(|side| first.is_none_or(|first| *first == side))),
    }
}
