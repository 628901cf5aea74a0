//! Test games: one with simultaneous moves and a draw, one with turns and no draw, and two that test the limits of the `Game`
//! contract.

use league_protocol::side::{Pair, Side};
use smol_str::{SmolStr, ToSmolStr};

use crate::rules::game::{DrawnNumber, Game, GameInfo, GameStage, GameVerdict, IllegalMove};

/// Both sides guess whether the number is `low` (1 to 5) or `high`. A side that alone is right wins.
#[derive(Debug, Default)]
pub(super) struct Guess {
    guesses: Pair<Option<SmolStr>>,
    number: Option<DrawnNumber>,
}

impl Game for Guess {
    fn info(&self) -> GameInfo {
        GameInfo { name: "Guess", rules: "", longest_course: 1 }
    }

    fn stage(&self) -> GameStage {
        let Some(number) = self.number else {
            let wanted = self.guesses.as_ref().map(|guess| guess.is_none());
            return if wanted.both(|side| !side) { GameStage::Draw } else { GameStage::Moves(wanted) };
        };
        let truth = if number.get() <= 5 { "low" } else { "high" };
        let right = self.guesses.as_ref().map(|guess| guess.as_deref() == Some(truth));
        GameStage::Over(match (right.a, right.b) {
            (true, false) => GameVerdict::Win(Side::A),
            (false, true) => GameVerdict::Win(Side::B),
            (true, true) | (false, false) => GameVerdict::Draw,
        })
    }

    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove> {
        if self.guesses[side].is_some() || !matches!(text, "low" | "high") {
            return Err(IllegalMove { found: text.to_owned(), allowed: "low or high".to_owned() });
        }
        Ok(())
    }

    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.check(side, text)?;
        self.guesses[side] = Some(SmolStr::new(text));
        Ok(())
    }

    fn draw(&mut self, number: DrawnNumber) {
        self.number = Some(number);
    }

    fn view(&self, _: Side) -> SmolStr {
        SmolStr::default()
    }

    fn reason(&self, names: Pair<&str>) -> String {
        format!("{} and {} have guessed.", names.a, names.b)
    }
}

/// The sides take one or two from a heap in turn. The side that takes the last one wins.
#[derive(Debug)]
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
    fn info(&self) -> GameInfo {
        GameInfo { name: "Heap", rules: "", longest_course: 250 }
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

/// A game that never leaves its stage.
#[derive(Debug)]
pub(super) struct Stuck(pub(super) GameStage);

impl Game for Stuck {
    fn info(&self) -> GameInfo {
        GameInfo { name: "Stuck", rules: "", longest_course: 250 }
    }

    fn stage(&self) -> GameStage {
        self.0
    }

    fn check(&self, _: Side, _: &str) -> Result<(), IllegalMove> {
        Ok(())
    }

    fn play(&mut self, _: Side, _: &str) -> Result<(), IllegalMove> {
        Ok(())
    }

    fn view(&self, _: Side) -> SmolStr {
        SmolStr::default()
    }

    fn reason(&self, _: Pair<&str>) -> String {
        "It goes nowhere.".to_owned()
    }
}

/// The side that moves first makes all the moves and wins.
#[derive(Debug)]
pub(super) struct Race {
    left: u8,
    first: Option<Side>,
}

impl Race {
    pub(super) fn of(left: u8) -> Self {
        Self { left, first: None }
    }
}

impl Game for Race {
    fn info(&self) -> GameInfo {
        GameInfo { name: "Race", rules: "", longest_course: 250 }
    }

    fn stage(&self) -> GameStage {
        match self.first {
            Some(side) if self.left == 0 => GameStage::Over(GameVerdict::Win(side)),
            first => GameStage::Moves(Pair::from_fn(|side| first.is_none_or(|first| first == side))),
        }
    }

    fn check(&self, _: Side, _: &str) -> Result<(), IllegalMove> {
        Ok(())
    }

    fn play(&mut self, side: Side, _: &str) -> Result<(), IllegalMove> {
        self.first = Some(side);
        self.left -= 1;
        Ok(())
    }

    fn view(&self, _: Side) -> SmolStr {
        SmolStr::default()
    }

    fn reason(&self, _: Pair<&str>) -> String {
        "It was a race.".to_owned()
    }
}
