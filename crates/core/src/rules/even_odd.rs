//! Even/Odd: both players bet on the parity of a number that is drawn afterwards.
//!
//! The players choose at the same time without seeing each other's choice, and a choice is final. A player that alone is right
//! wins.

use league_protocol::parity::Parity;
use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use super::game::{About, DrawnNumber, Game, GameStage, GameVerdict, IllegalMove};

const RULES: &str = "\
In a match both players choose even or odd at the same time, then a number from 1 to 10 is drawn. If both chose the same,
it is a draw and each gets 1 point. If not, the one who named the number's parity gets 3 points and the other 0. The draw is
fair, so choosing differently from your opponent is worth 1.5 points on average and choosing the same is worth 1: foresee
your opponent's choice, and choose the other.
";

#[derive(Clone, Debug, Default)]
pub struct EvenOdd {
    choices: Pair<Option<Parity>>,
    number: Option<DrawnNumber>,
}

impl EvenOdd {
    fn choice(&self, side: Side, text: &str) -> Result<Parity, IllegalMove> {
        if self.choices[side].is_some() {
            return Err(IllegalMove::new(text, "the choice is made, and the first one stands"));
        }
        Parity::exact(text).ok_or_else(|| IllegalMove::new(text, "choose even or odd, in small letters"))
    }

    fn chosen(&self) -> Option<Pair<Parity>> {
        Some(Pair::new(self.choices.a?, self.choices.b?))
    }
}

fn verdict(choices: Pair<Parity>, number: DrawnNumber) -> GameVerdict {
    let right = choices.map(|choice| choice == Parity::of(number.get()));
    match (right.a, right.b) {
        (true, false) => GameVerdict::Win(Side::A),
        (false, true) => GameVerdict::Win(Side::B),
        (true, true) | (false, false) => GameVerdict::Draw,
    }
}

impl Game for EvenOdd {
    fn about(&self) -> About {
        About { name: "Even/Odd", rules: RULES, moves: "`even` or `odd`", chance: true, ..About::PLAIN }
    }

    fn stage(&self) -> GameStage {
        match (self.chosen(), self.number) {
            (None, _) => GameStage::Moves(self.choices.map(|choice| choice.is_none())),
            (Some(_), None) => GameStage::Draw,
            (Some(choices), Some(number)) => GameStage::Over(verdict(choices, number)),
        }
    }

    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.choice(side, text).map(drop)
    }

    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.choices[side] = Some(self.choice(side, text)?);
        Ok(())
    }

    fn draw(&mut self, number: DrawnNumber) {
        if self.stage() == GameStage::Draw {
            self.number = Some(number);
        }
    }

    fn legal_moves(&self, side: Side) -> Vec<SmolStr> {
        let due = self.choices[side].is_none();
        let both = [Parity::Even, Parity::Odd].into_iter().filter(|_| due);
        both.map(|parity| SmolStr::new_static(parity.as_str())).collect()
    }

    /// Always empty: there is no board, and the opponent's choice is secret.
    fn view(&self, _side: Side) -> SmolStr {
        SmolStr::default()
    }

    fn reason(&self, names: Pair<&str>) -> String {
        let (Some(choices), Some(number)) = (self.chosen(), self.number) else {
            let missing = Side::BOTH.into_iter().filter(|side| self.choices[*side].is_none());
            let waiting: Vec<&str> = missing.map(|side| names[side]).collect();
            return match waiting[..] {
                [] => String::from("the number has not been drawn yet"),
                _ => format!("still waiting for the choice of {}", waiting.join(" and ")),
            };
        };
        let (drawn, parity) = (number.get(), Parity::of(number.get()));
        match verdict(choices, number) {
            GameVerdict::Win(side) => format!("{drawn} is {parity}: {} chose {parity} and wins", names[side]),
            GameVerdict::Draw | GameVerdict::Score(_) => {
                format!("{drawn} is {parity}: {} and {} both chose {}, a draw", names.a, names.b, choices.a)
            }
        }
    }
}

#[cfg(test)]
mod tests;
