//! How a match ended, once and for all: what a bout decides, a report says and a season counts.

use league_protocol::message::game_over::ResultStatus;
use league_protocol::message::start_match::{DoubleForfeit, MatchPoints};
use league_protocol::side::{Pair, Side};
use serde::{Deserialize, Serialize};

use super::game::GameVerdict;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// This side won by the rules of the game.
    Win(Side),
    /// Nobody won, by the rules of the game.
    Draw,
    /// This side lost without a game: it declined, kept silent, could not be reached or made no legal move.
    Forfeit(Side),
    DoubleForfeit,
}

impl Outcome {
    /// The winner, if there is one.
    pub fn winner(self) -> Option<Side> {
        match self {
            Self::Win(side) => Some(side),
            Self::Forfeit(loser) => Some(loser.other()),
            Self::Draw | Self::DoubleForfeit => None,
        }
    }

    /// Whether `side` lost without a game.
    pub fn forfeited(self, side: Side) -> bool {
        match self {
            Self::Forfeit(loser) => loser == side,
            Self::DoubleForfeit => true,
            Self::Win(_) | Self::Draw => false,
        }
    }

    /// In one word, in a league where a double forfeit counts as that.
    pub fn status(self, double_forfeit: DoubleForfeit) -> ResultStatus {
        match (self, double_forfeit) {
            (Self::Win(_), _) => ResultStatus::Win,
            (Self::Draw, _) | (Self::DoubleForfeit, DoubleForfeit::Draw) => ResultStatus::Draw,
            (Self::Forfeit(_), _) | (Self::DoubleForfeit, DoubleForfeit::TechnicalLoss) => ResultStatus::TechnicalLoss,
        }
    }

    /// What each side gets for it.
    pub fn points(self, worth: &MatchPoints) -> Pair<u32> {
        let winner = self.winner();
        Pair::from_fn(|side| match self.status(worth.double_forfeit) {
            ResultStatus::Win | ResultStatus::TechnicalLoss if winner == Some(side) => worth.win_points,
            ResultStatus::Win => worth.loss_points,
            ResultStatus::Draw => worth.draw_points,
            ResultStatus::TechnicalLoss => worth.technical_loss_points,
        })
    }
}

impl From<GameVerdict> for Outcome {
    fn from(verdict: GameVerdict) -> Self {
        match verdict {
            GameVerdict::Win(side) => Self::Win(side),
            GameVerdict::Draw => Self::Draw,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_forfeit_is_what_the_league_says_also_where_draws_are_worth_nothing() {
        let worthless = MatchPoints { draw_points: 0, ..MatchPoints::default() };
        let choices =
            [(DoubleForfeit::Draw, ResultStatus::Draw), (DoubleForfeit::TechnicalLoss, ResultStatus::TechnicalLoss)];
        for (double_forfeit, status) in choices {
            assert_eq!(Outcome::DoubleForfeit.status(double_forfeit), status);
            let points = Outcome::DoubleForfeit.points(&MatchPoints { double_forfeit, ..worthless });
            assert_eq!(points, Pair::new(0, 0));
        }
    }
}
