//! The iterated prisoner's dilemma: 200 rounds with the payoffs 5, 3, 1 and 0.
//!
//! A table of it ranks by the mean score. By wins, always defecting would come first: it beats tit for tat by 204 to 199.

use league_protocol::message::game_view::GameView;
use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use super::game::{About, ForfeitScore, Game, GameStage, IllegalMove, Ranking, check_turn};
use super::rounds::Rounds;

const ROUNDS: u32 = 200;

const RULES: &str = "\
In each of **200 rounds** both players cooperate or defect at the same time.

| you | opponent | you score | opponent scores |
|---|---|---|---|
| cooperate | cooperate | 3 | 3 |
| cooperate | defect | 0 | 5 |
| defect | cooperate | 5 | 0 |
| defect | defect | 1 | 1 |

The table of the league ranks by the **mean score**, so a high score of your opponent does not harm you. You see all rounds so
far: your choices, then those of your opponent, as letters (`C`, `D`).
";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choice {
    Cooperate,
    Defect,
}

impl Choice {
    const BOTH: [Self; 2] = [Self::Cooperate, Self::Defect];

    fn as_str(self) -> &'static str {
        match self {
            Self::Cooperate => "cooperate",
            Self::Defect => "defect",
        }
    }

    fn letter(self) -> char {
        match self {
            Self::Cooperate => 'C',
            Self::Defect => 'D',
        }
    }
}

fn pay(choices: Pair<Choice>) -> Pair<i32> {
    Pair::from_fn(|side| match (choices[side], choices[side.other()]) {
        (Choice::Defect, Choice::Cooperate) => 5,
        (Choice::Cooperate, Choice::Cooperate) => 3,
        (Choice::Defect, Choice::Defect) => 1,
        (Choice::Cooperate, Choice::Defect) => 0,
    })
}

#[derive(Clone, Debug, Default)]
pub struct PrisonersDilemma {
    choices: Rounds<Choice>,
}

impl PrisonersDilemma {
    fn choice(&self, side: Side, text: &str) -> Result<Choice, IllegalMove> {
        check_turn(self.stage(), side, text)?;
        let choice = Choice::BOTH.into_iter().find(|choice| choice.as_str() == text);
        choice.ok_or_else(|| IllegalMove::new(text, "choose cooperate or defect, in small letters"))
    }
}

impl Game for PrisonersDilemma {
    fn about(&self) -> About {
        About {
            name: "Prisoner's dilemma",
            rules: RULES,
            moves: "`cooperate` or `defect`",
            max_turns: ROUNDS,
            ranking: Ranking::MeanScore,
            // The opponent gets what mutual cooperation would have paid.
            forfeit: ForfeitScore { winner: 600, loser: 0 },
            ..About::PLAIN
        }
    }

    fn stage(&self) -> GameStage {
        self.choices.stage(ROUNDS as usize, pay)
    }

    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.choice(side, text).map(drop)
    }

    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove> {
        let choice = self.choice(side, text)?;
        self.choices.choose(side, choice);
        Ok(())
    }

    fn legal_moves(&self, side: Side) -> Vec<SmolStr> {
        let is_due = self.stage().awaits(side);
        Choice::BOTH.into_iter().filter(|_| is_due).map(|choice| SmolStr::new_static(choice.as_str())).collect()
    }

    /// Such as `CCD CDD`: own choices first.
    fn view(&self, side: Side) -> SmolStr {
        self.choices.view(side, Choice::letter)
    }

    fn fields(&self, side: Side) -> GameView {
        let letters = self.view(side);
        let (own, theirs) = letters.split_once(' ').unwrap_or_default();
        let score = self.choices.score(pay);
        GameView::default()
            .with("rounds_left", ROUNDS - self.choices.done().len() as u32)
            .with("you", own)
            .with("opponent", theirs)
            .with("your_score", score[side])
            .with("opponent_score", score[side.other()])
    }

    fn reason(&self, names: Pair<&str>) -> String {
        let (score, rounds) = (self.choices.score(pay), self.choices.done().len());
        format!("{} scored {} and {} scored {} in {rounds} rounds", names.a, score.a, names.b, score.b)
    }
}
