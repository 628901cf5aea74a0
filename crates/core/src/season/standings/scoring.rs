//! The `scoring` part of a league's configuration.

pub use league_protocol::message::start_match::DoubleForfeit;
use league_protocol::message::start_match::MatchPoints;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Scoring {
    /// Also for a win by forfeit.
    pub win_points: u32,
    pub draw_points: u32,
    pub loss_points: u32,
    pub technical_loss_points: u32,
    /// How a double forfeit counts.
    pub double_forfeit: DoubleForfeit,
    /// Applied in this order.
    pub tiebreakers: Vec<TieBreak>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TieBreak {
    Wins,
    /// More points in the matches that the tied players played against each other.
    HeadToHead,
    Draws,
    /// The sum of the opponents' points. A bye counts as an opponent with the player's own points.
    Buchholz,
    /// The sum of the opponents' points, each times the points that were made against this opponent.
    SonnebornBerger,
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
    pub fn match_points(&self) -> MatchPoints {
        MatchPoints {
            win_points: self.win_points,
            draw_points: self.draw_points,
            loss_points: self.loss_points,
            technical_loss_points: self.technical_loss_points,
            double_forfeit: self.double_forfeit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
