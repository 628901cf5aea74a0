//! Higher number: both players name a number from 1 to 3 at once, and the higher one wins.

use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use super::game::{About, Game, GameStage, GameVerdict, IllegalMove};

#[derive(Clone, Debug, Default)]
pub struct HigherNumber {
    numbers: Pair<Option<u8>>,
}

impl HigherNumber {
    fn number(&self, side: Side, text: &str) -> Result<u8, IllegalMove> {
        let number = text.parse().ok().filter(|number| (1..=3).contains(number) && self.numbers[side].is_none());
        number.ok_or_else(|| IllegalMove::new(text, "name 1, 2 or 3, once"))
    }
}

impl Game for HigherNumber {
    fn about(&self) -> About {
        About {
            name: "Higher number",
            rules: "Name a number from 1 to 3; the higher one wins.",
            moves: "`1`, `2` or `3`",
            ..About::PLAIN
        }
    }

    fn stage(&self) -> GameStage {
        match (self.numbers.a, self.numbers.b) {
            (Some(a), Some(b)) if a > b => GameStage::Over(GameVerdict::Win(Side::A)),
            (Some(a), Some(b)) if a < b => GameStage::Over(GameVerdict::Win(Side::B)),
            (Some(_), Some(_)) => GameStage::Over(GameVerdict::Draw),
            (_, _) => GameStage::Moves(self.numbers.map(|number| number.is_none())),
        }
    }

    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.number(side, text).map(drop)
    }

    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.numbers[side] = Some(self.number(side, text)?);
        Ok(())
    }

    fn legal_moves(&self, side: Side) -> Vec<SmolStr> {
        if self.numbers[side].is_some() { Vec::new() } else { ["1", "2", "3"].map(SmolStr::new_static).to_vec() }
    }

    fn view(&self, _: Side) -> SmolStr {
        SmolStr::default()
    }

    fn reason(&self, names: Pair<&str>) -> String {
        format!("{} named {:?} and {} named {:?}", names.a, self.numbers.a, names.b, self.numbers.b)
    }
}
