use std::cmp::Ordering;
use std::fmt::Display;

use league_protocol::message::game_over::{OwnResult, ResultStatus};
use league_protocol::message::start_match::{DoubleForfeit, MatchPoints};
use league_protocol::side::{Pair, Side};
use serde::{Deserialize, Serialize};

use super::game::{ForfeitScore, GameVerdict};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Win(Side),
    Draw,
    /// This side declined, timed out, could not be reached or made no legal move.
    Forfeit(Side),
    DoubleForfeit,
}

impl Outcome {
    pub fn winner(self) -> Option<Side> {
        match self {
            Self::Win(side) => Some(side),
            Self::Forfeit(loser) => Some(loser.other()),
            Self::Draw | Self::DoubleForfeit => None,
        }
    }

    pub fn forfeited(self, side: Side) -> bool {
        match self {
            Self::Forfeit(loser) => loser == side,
            Self::DoubleForfeit => true,
            Self::Win(_) | Self::Draw => false,
        }
    }

    pub fn status(self, double_forfeit: DoubleForfeit) -> ResultStatus {
        match (self, double_forfeit) {
            (Self::Win(_), _) => ResultStatus::Win,
            (Self::Draw, _) | (Self::DoubleForfeit, DoubleForfeit::Draw) => ResultStatus::Draw,
            (Self::Forfeit(_), _) | (Self::DoubleForfeit, DoubleForfeit::TechnicalLoss) => ResultStatus::TechnicalLoss,
        }
    }

    pub fn own_result(self, side: Side, double_forfeit: DoubleForfeit) -> OwnResult {
        match (self.status(double_forfeit), self.winner()) {
            (_, Some(winner)) if winner == side => OwnResult::Win,
            (ResultStatus::Win, _) => OwnResult::Loss,
            (ResultStatus::Draw, _) => OwnResult::Draw,
            (ResultStatus::TechnicalLoss, _) => OwnResult::TechnicalLoss,
        }
    }

    pub fn points(self, worth: &MatchPoints) -> Pair<u32> {
        Pair::from_fn(|side| points_for(self.own_result(side, worth.double_forfeit), worth))
    }

    /// The score of a match without one of its own, such as a technical loss.
    pub fn score(self, forfeit: ForfeitScore) -> Pair<i32> {
        Pair::from_fn(|side| match self {
            Self::Win(winner) => i32::from(side == winner),
            Self::Draw => 0,
            Self::Forfeit(loser) if side != loser => forfeit.winner,
            Self::Forfeit(_) | Self::DoubleForfeit => forfeit.loser,
        })
    }

    pub fn sentence(self, names: &Pair<impl Display>) -> String {
        match self {
            Self::Win(side) => format!("{} beats {}", names[side], names[side.other()]),
            Self::Draw => format!("{} and {} draw", names.a, names.b),
            Self::Forfeit(side) => format!("{} wins, {} forfeits", names[side.other()], names[side]),
            Self::DoubleForfeit => format!("{} and {} both forfeit", names.a, names.b),
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Win(_) => "win",
            Self::Draw => "draw",
            Self::Forfeit(_) => "technical_loss",
            Self::DoubleForfeit => "double_technical_loss",
        }
    }
}

/// The points rule; every other module calls it.
pub fn points_for(result: OwnResult, worth: &MatchPoints) -> u32 {
    match result {
        OwnResult::Win => worth.win_points,
        OwnResult::Draw => worth.draw_points,
        OwnResult::Loss => worth.loss_points,
        OwnResult::TechnicalLoss => worth.technical_loss_points,
    }
}

impl From<GameVerdict> for Outcome {
    fn from(verdict: GameVerdict) -> Self {
        match verdict {
            GameVerdict::Win(side) => Self::Win(side),
            GameVerdict::Draw => Self::Draw,
            GameVerdict::Score(score) => match score.a.cmp(&score.b) {
                Ordering::Greater => Self::Win(Side::A),
                Ordering::Less => Self::Win(Side::B),
                Ordering::Equal => Self::Draw,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_gives_each_side_its_points() {
        let worth = |double_forfeit| MatchPoints {
            win_points: 5,
            draw_points: 3,
            loss_points: 2,
            technical_loss_points: 1,
            double_forfeit,
        };
        for double_forfeit in [DoubleForfeit::Draw, DoubleForfeit::TechnicalLoss] {
            let points = |outcome: Outcome| outcome.points(&worth(double_forfeit));
            assert_eq!(points(Outcome::Win(Side::A)), Pair::new(5, 2));
            assert_eq!(points(Outcome::Win(Side::B)), Pair::new(2, 5));
            assert_eq!(points(Outcome::Draw), Pair::new(3, 3));
            assert_eq!(points(Outcome::Forfeit(Side::A)), Pair::new(1, 5));
            assert_eq!(points(Outcome::Forfeit(Side::B)), Pair::new(5, 1));
        }
        assert_eq!(Outcome::DoubleForfeit.points(&worth(DoubleForfeit::Draw)), Pair::new(3, 3));
        assert_eq!(Outcome::DoubleForfeit.points(&worth(DoubleForfeit::TechnicalLoss)), Pair::new(1, 1));
    }
}
