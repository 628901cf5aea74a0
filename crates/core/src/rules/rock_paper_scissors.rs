//! Rock, paper, scissors: a hundred throws, both players at once.
//!
//! The only equilibrium throws each with a third of the chance. It wins nothing and loses nothing; more needs prediction.

use league_protocol::message::game_view::GameView;
use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use super::game::{About, ForfeitScore, Game, GameStage, IllegalMove, check_turn};
use super::rounds::Rounds;

const THROWS: u32 = 100;

const RULES: &str = "\
Both players throw rock, paper or scissors at the same time, **100 times**. Rock beats scissors, scissors beat paper, and paper
beats rock; two equal throws beat nothing. Each throw that beats the opponent's scores 1. The higher score wins the game, and
equal scores are a draw. You see all throws so far: yours, then those of your opponent, as letters (`R`, `P`, `S`).
";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Throw {
    Rock,
    Paper,
    Scissors,
}

impl Throw {
    const ALL: [Self; 3] = [Self::Rock, Self::Paper, Self::Scissors];

    fn as_str(self) -> &'static str {
        match self {
            Self::Rock => "rock",
            Self::Paper => "paper",
            Self::Scissors => "scissors",
        }
    }

    fn letter(self) -> char {
        match self {
            Self::Rock => 'R',
            Self::Paper => 'P',
            Self::Scissors => 'S',
        }
    }

    fn beats(self, other: Self) -> bool {
        matches!(
            (self, other),
            (Self::Rock, Self::Scissors) | (Self::Scissors, Self::Paper) | (Self::Paper, Self::Rock)
        )
    }
}

fn pay(throws: Pair<Throw>) -> Pair<i32> {
    Pair::from_fn(|side| i32::from(throws[side].beats(throws[side.other()])))
}

#[derive(Clone, Debug, Default)]
pub struct RockPaperScissors {
    throws: Rounds<Throw>,
}

impl RockPaperScissors {
    fn throw(&self, side: Side, text: &str) -> Result<Throw, IllegalMove> {
        check_turn(self.stage(), side, text)?;
        let throw = Throw::ALL.into_iter().find(|throw| throw.as_str() == text);
        throw.ok_or_else(|| IllegalMove::new(text, "throw rock, paper or scissors, in small letters"))
    }
}

impl Game for RockPaperScissors {
    fn about(&self) -> About {
        About {
            name: "Rock, paper, scissors",
            rules: RULES,
            moves: "`rock`, `paper` or `scissors`",
            max_turns: THROWS,
            forfeit: ForfeitScore { winner: 50, loser: 0 },
            ..About::PLAIN
        }
    }

    fn stage(&self) -> GameStage {
        self.throws.stage(THROWS as usize, pay)
    }

    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.throw(side, text).map(drop)
    }

    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove> {
        let throw = self.throw(side, text)?;
        self.throws.choose(side, throw);
        Ok(())
    }

    fn legal_moves(&self, side: Side) -> Vec<SmolStr> {
        let is_due = self.stage().awaits(side);
        Throw::ALL.into_iter().filter(|_| is_due).map(|throw| SmolStr::new_static(throw.as_str())).collect()
    }

    /// Such as `RPS SSP`: own throws first.
    fn view(&self, side: Side) -> SmolStr {
        self.throws.view(side, Throw::letter)
    }

    fn fields(&self, side: Side) -> GameView {
        let letters = self.view(side);
        let (own, theirs) = letters.split_once(' ').unwrap_or_default();
        let score = self.throws.score(pay);
        GameView::default()
            .with("throws_left", THROWS - self.throws.done().len() as u32)
            .with("you", own)
            .with("opponent", theirs)
            .with("your_score", score[side])
            .with("opponent_score", score[side.other()])
    }

    fn reason(&self, names: Pair<&str>) -> String {
        let (score, thrown) = (self.throws.score(pay), self.throws.done().len());
        format!("{} won {} and {} won {} of {thrown} throws", names.a, score.a, names.b, score.b)
    }
}
