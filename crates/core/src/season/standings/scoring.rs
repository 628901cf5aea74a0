//! What results are worth, and what decides between equals: the `scoring` part of a league's configuration.

pub use league_protocol::message::start_match::DoubleForfeit;
use league_protocol::message::start_match::MatchPoints;
use league_protocol::side::Side;
use serde::{Deserialize, Serialize};

use super::MatchMark;
use crate::rules::outcome::Outcome;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Scoring {
    /// For a win, also against an opponent that forfeits.
    pub win_points: u32,
    pub draw_points: u32,
    pub loss_points: u32,
    /// For a match that was forfeited.
    pub technical_loss_points: u32,
    /// What it is when both forfeit.
    pub double_forfeit: DoubleForfeit,
    /// What decides between players of equal points, the first first.
    pub tiebreakers: Vec<TieBreak>,
}

/// What decides between players who are equal so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TieBreak {
    Wins,
    /// More points in the matches of those who are equal so far, against each other.
    HeadToHead,
    Draws,
}

impl Default for Scoring {
    fn default() -> Self {
        Self {
            win_points: 3,
            draw_points: 1,
            loss_points: 0,
            technical_loss_points: 0,
            double_forfeit: DoubleForfeit::default(),
            tiebreakers: vec![TieBreak::Wins, TieBreak::HeadToHead, TieBreak::Draws],
        }
    }
}

impl Scoring {
    /// What a match is worth, as its referee is told.
    pub fn match_points(&self) -> MatchPoints {
        MatchPoints {
            win_points: self.win_points,
            draw_points: self.draw_points,
            loss_points: self.loss_points,
            technical_loss_points: self.technical_loss_points,
            double_forfeit: self.double_forfeit,
        }
    }

    /// What a match is worth to whom it was this.
    pub(super) fn worth(&self, mark: MatchMark) -> u32 {
        match mark {
            MatchMark::Win => self.win_points,
            MatchMark::Draw => self.draw_points,
            MatchMark::Loss => self.loss_points,
            MatchMark::Forfeit => self.technical_loss_points,
        }
    }

    /// What `outcome` is to `side`.
    pub(super) fn mark(&self, outcome: Outcome, side: Side) -> MatchMark {
        match (outcome, self.double_forfeit) {
            (Outcome::Win(_) | Outcome::Forfeit(_), _) if outcome.winner() == Some(side) => MatchMark::Win,
            (Outcome::Win(_), _) => MatchMark::Loss,
            (Outcome::Forfeit(_), _) | (Outcome::DoubleForfeit, DoubleForfeit::TechnicalLoss) => MatchMark::Forfeit,
            (Outcome::Draw, _) | (Outcome::DoubleForfeit, DoubleForfeit::Draw) => MatchMark::Draw,
        }
    }
}

#[cfg(test)]
mod tests {
    use league_protocol::side::Pair;

    use super::*;

    /// Every kind of result told apart by its points.
    fn distinct() -> Scoring {
        Scoring { win_points: 5, draw_points: 3, loss_points: 2, technical_loss_points: 1, ..Scoring::default() }
    }

    #[test]
    fn each_outcome_gives_each_side_its_points() {
        // What is counted here is what the referee was told to tell.
        let points = |scoring: &Scoring, outcome: Outcome| {
            let counted = Pair::from_fn(|side| scoring.worth(scoring.mark(outcome, side)));
            assert_eq!(counted, outcome.points(&scoring.match_points()), "{outcome:?}");
            counted
        };
        let (draw, lost) = (distinct(), Scoring { double_forfeit: DoubleForfeit::TechnicalLoss, ..distinct() });
        for scoring in [&draw, &lost] {
            assert_eq!(points(scoring, Outcome::Win(Side::A)), Pair::new(5, 2));
            assert_eq!(points(scoring, Outcome::Win(Side::B)), Pair::new(2, 5));
            assert_eq!(points(scoring, Outcome::Draw), Pair::new(3, 3));
            assert_eq!(points(scoring, Outcome::Forfeit(Side::A)), Pair::new(1, 5));
            assert_eq!(points(scoring, Outcome::Forfeit(Side::B)), Pair::new(5, 1));
        }
        assert_eq!(points(&draw, Outcome::DoubleForfeit), Pair::new(3, 3));
        assert_eq!(points(&lost, Outcome::DoubleForfeit), Pair::new(1, 1));
    }

    #[test]
    fn nothing_configured_is_the_usual_scoring() {
        let read: Scoring = serde_json::from_str("{}").unwrap();
        assert_eq!(read, Scoring::default());
        let written = serde_json::to_value(&read).unwrap();
        let expected = serde_json::json!({
            "win_points": 3, "draw_points": 1, "loss_points": 0, "technical_loss_points": 0,
            "double_forfeit": "draw", "tiebreakers": ["wins", "head_to_head", "draws"],
        });
        assert_eq!(written, expected);
    }

    #[test]
    fn what_is_configured_wins_and_the_rest_stays() {
        let text = r#"{ "win_points": 2, "double_forfeit": "technical_loss", "tiebreakers": ["head_to_head"] }"#;
        let expected = Scoring {
            win_points: 2,
            double_forfeit: DoubleForfeit::TechnicalLoss,
            tiebreakers: vec![TieBreak::HeadToHead],
            ..Scoring::default()
        };
        assert_eq!(serde_json::from_str::<Scoring>(text).unwrap(), expected);
        serde_json::from_str::<Scoring>(r#"{ "tiebreakers": ["luck"] }"#).unwrap_err();
    }
}
