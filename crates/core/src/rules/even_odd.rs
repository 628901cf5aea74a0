//! Even/Odd: both players bet on the parity of a number that is drawn afterwards.
//!
//! The players choose at the same time without seeing each other's choice, and a choice is final. A player that alone is right
//! wins.

use league_protocol::parity::Parity;
use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use super::game::{DrawnNumber, Game, GameInfo, GameStage, GameVerdict, IllegalMove};

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
    fn info(&self) -> GameInfo {
        GameInfo { name: "Even/Odd", rules: RULES, max_turns: 1 }
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
            GameVerdict::Draw => {
                format!("{drawn} is {parity}: {} and {} both chose {}, a draw", names.a, names.b, choices.a)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: Pair<&str> = Pair { a: "P01", b: "P02" };

    fn played(a: &str, b: &str, number: u8) -> EvenOdd {
        let mut game = EvenOdd::default();
        game.play(Side::A, a).unwrap();
        game.play(Side::B, b).unwrap();
        game.draw(DrawnNumber::new(number).unwrap());
        game
    }

    #[test]
    fn the_player_that_alone_is_right_wins() {
        let (a, b) = (GameVerdict::Win(Side::A), GameVerdict::Win(Side::B));
        for number in 1..=10 {
            let (even, odd) = if number % 2 == 0 { (a, b) } else { (b, a) };
            for (choice_a, choice_b, verdict) in [
                ("even", "odd", even),
                ("odd", "even", odd),
                ("even", "even", GameVerdict::Draw),
                ("odd", "odd", GameVerdict::Draw),
            ] {
                let stage = played(choice_a, choice_b, number).stage();
                assert_eq!(stage, GameStage::Over(verdict), "{number}: {choice_a} against {choice_b}");
            }
        }
    }

    #[test]
    fn both_choose_in_any_order_and_then_a_number_is_drawn() {
        for first in Side::BOTH {
            let mut game = EvenOdd::default();
            assert_eq!(game.stage(), GameStage::Moves(Pair::new(true, true)));
            game.play(first, "odd").unwrap();
            assert_eq!(game.stage(), GameStage::Moves(Pair::from_fn(|side| side != first)));
            game.play(first.other(), "even").unwrap();
            assert_eq!(game.stage(), GameStage::Draw);
            game.draw(DrawnNumber::new(7).unwrap());
            assert_eq!(game.stage(), GameStage::Over(GameVerdict::Win(first)));
        }
    }

    #[test]
    fn the_first_choice_stands() {
        let mut game = EvenOdd::default();
        game.play(Side::A, "even").unwrap();
        for again in ["odd", "even", "maybe"] {
            game.play(Side::A, again).unwrap_err();
        }
        assert_eq!(game.stage(), GameStage::Moves(Pair::new(false, true)));
        game.play(Side::B, "odd").unwrap();
        game.play(Side::B, "even").unwrap_err();
        assert_eq!(game.stage(), GameStage::Draw);
    }

    #[test]
    fn a_number_before_the_choices_or_after_the_first_is_of_no_effect() {
        let mut game = EvenOdd::default();
        game.play(Side::A, "even").unwrap();
        game.draw(DrawnNumber::new(1).unwrap());
        game.play(Side::B, "odd").unwrap();
        assert_eq!(game.stage(), GameStage::Draw);
        game.draw(DrawnNumber::new(2).unwrap());
        game.draw(DrawnNumber::new(3).unwrap());
        assert_eq!(game.stage(), GameStage::Over(GameVerdict::Win(Side::A)));
    }

    #[test]
    fn nothing_but_even_and_odd_is_a_choice_and_a_refusal_changes_nothing() {
        let mut game = EvenOdd::default();
        for text in ["EVEN", "Odd", " even", "odd\n", "", "2", "even or odd"] {
            let refusal = game.play(Side::B, text).unwrap_err();
            assert_eq!(refusal.found, text);
        }
        assert_eq!(game.play(Side::A, &"é".repeat(9_999)).unwrap_err().found.chars().count(), IllegalMove::QUOTED);
        assert_eq!(game.stage(), GameStage::Moves(Pair::new(true, true)));
    }

    #[test]
    fn neither_sees_the_choice_of_the_other() {
        let mut game = EvenOdd::default();
        let before = game.view(Side::B);
        game.play(Side::A, "even").unwrap();
        assert_eq!(game.view(Side::B), before);
    }

    #[test]
    fn the_reason_is_one_sentence_at_every_stage() {
        assert_eq!(played("even", "odd", 8).reason(NAMES), "8 is even: P01 chose even and wins");
        assert_eq!(played("even", "odd", 3).reason(NAMES), "3 is odd: P02 chose odd and wins");
        assert_eq!(played("odd", "odd", 3).reason(NAMES), "3 is odd: P01 and P02 both chose odd, a draw");
        assert_eq!(played("odd", "odd", 8).reason(NAMES), "8 is even: P01 and P02 both chose odd, a draw");
        let mut game = EvenOdd::default();
        assert_eq!(game.reason(NAMES), "still waiting for the choice of P01 and P02");
        game.play(Side::A, "odd").unwrap();
        assert_eq!(game.reason(NAMES), "still waiting for the choice of P02");
        game.play(Side::B, "odd").unwrap();
        assert_eq!(game.reason(NAMES), "the number has not been drawn yet");
    }
}
