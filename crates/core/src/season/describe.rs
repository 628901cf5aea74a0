//! One sentence per event, shared by log lines and pages.

use std::fmt;

use league_protocol::id::{MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::side::Pair;

use super::agent::AgentId;
use super::event::Fact;
use crate::rules::outcome::Outcome;
use league_protocol::message::operate::DisputeDecision;

/// Ids stay apart from text, so that a page can show a name and a link in their place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Phrase {
    Text(String),
    Player(PlayerId),
    Match(MatchId),
    /// The winner of the match, or a draw.
    Ended(MatchId, Outcome),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Description(pub Vec<Phrase>);

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|phrase| match phrase {
            Phrase::Text(text) => f.write_str(text),
            Phrase::Player(id) => id.fmt(f),
            Phrase::Match(id) => id.fmt(f),
            Phrase::Ended(_, outcome) => f.write_str(&outcome.sentence(&Pair::new("player A", "player B"))),
        })
    }
}

impl From<&str> for Phrase {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Phrase {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&PlayerId> for Phrase {
    fn from(id: &PlayerId) -> Self {
        Self::Player(id.clone())
    }
}

impl From<&RefereeId> for Phrase {
    fn from(id: &RefereeId) -> Self {
        Self::Text(id.to_string())
    }
}

impl From<&MatchId> for Phrase {
    fn from(id: &MatchId) -> Self {
        Self::Match(id.clone())
    }
}

macro_rules! describe {
    ($($part:expr),+ $(,)?) => { Description(vec![$(Phrase::from($part)),+]) };
}

impl Fact {
    /// Contains no secrets and no addresses.
    pub fn describe(&self) -> Description {
        match self {
            Self::Opened { config } => describe!(config.title(), " opens for registration"),
            Self::PlayerRegistered { player, .. } => describe!(player, " registers"),
            Self::RefereeRegistered { referee, capacity, .. } => {
                describe!(referee, format!(" registers for {capacity} matches at a time"))
            }
            Self::PlayerReturned { player, .. } => describe!(player, " registers again"),
            Self::RefereeReturned { referee, .. } => {
                describe!(referee, " registers again; its open matches are played again")
            }
            Self::RegistrationClosed => describe!("Registration closes"),
            Self::RegistrationReopened => describe!("The operator opens the registration again"),
            Self::PlayerWithdrawn { player } => describe!("The operator withdraws ", player),
            Self::RoundStarted { round, pairings, .. } => {
                describe!(format!("Round {round} starts, matches: {}", pairings.len()))
            }
            Self::LotDrawn { rounds: RoundId(0), .. } => describe!("A lot decides the order of the bracket"),
            Self::LotDrawn { rounds, .. } => describe!(format!("A lot decides the drawn ties after round {rounds}")),
            Self::MatchAssigned { match_id, attempt: 1, referee, .. } => describe!(match_id, " goes to ", referee),
            Self::MatchAssigned { match_id, attempt, referee, .. } => {
                describe!(match_id, " goes to ", referee, format!(", attempt {attempt}"))
            }
            Self::MatchReturned { match_id, attempt, cause } => {
                describe!(match_id, format!(": attempt {attempt} ends without a result, because {}", cause.words()))
            }
            Self::MoveDeposited { match_id, player, game_number: 1, turn, .. } => {
                describe!(match_id, ": ", player, format!(" deposits its move {turn} with the manager"))
            }
            Self::MoveDeposited { match_id, player, game_number, turn, .. } => {
                let words = format!(" deposits its move {turn} of game {game_number} with the manager");
                describe!(match_id, ": ", player, words)
            }
            Self::AlertRaised { match_id, attempt, referee, player: Some(player), kind } => {
                let words = format!(" in attempt {attempt}: ");
                describe!("Alert: ", match_id, ", ", referee, words, player, format!(" {}", kind.words()))
            }
            Self::AlertRaised { match_id, attempt, referee, player: None, kind } => {
                describe!("Alert: ", match_id, ", ", referee, format!(" in attempt {attempt}: {}", kind.words()))
            }
            Self::MatchSuspended { match_id, .. } => describe!(match_id, " waits for the operator's decision"),
            Self::DisputeResolved { match_id, decision } => {
                let words = match decision {
                    DisputeDecision::Uphold => "The operator finds the referee at fault in ",
                    DisputeDecision::Reject => "The operator finds the referee not at fault in ",
                };
                describe!(words, match_id)
            }
            Self::RefereeLost { referee } => describe!(referee, " is gone; its matches go to other referees"),
            Self::RefereeLeft { referee } => describe!(referee, " has left; its matches go to other referees"),
            Self::RefereeWithdrawn { referee } => {
                describe!("The operator withdraws ", referee, "; its matches go to other referees")
            }
            Self::MatchExplained { match_id, account, .. } => match &account.reason {
                Some(reason) => describe!(match_id, format!(": {reason}")),
                None => describe!(match_id, ": the referee explains the result"),
            },
            Self::MatchReported { match_id, record, .. } => {
                let number = match (record.games.get(), record.drawn, record.score) {
                    (1, Some(number), _) => format!(", number {number}"),
                    (1, None, _) | (_, _, None) => String::new(),
                    (games, _, Some(score)) => format!(", {}:{} in {games} games", score.a, score.b),
                };
                describe!(match_id, ": ", Phrase::Ended(match_id.clone(), record.outcome), number)
            }
            Self::MatchAwarded { match_id, outcome } => {
                describe!(match_id, " is not played: ", Phrase::Ended(match_id.clone(), *outcome))
            }
            Self::RoundCompleted { round } => describe!(format!("Round {round} is completed")),
            Self::LeagueCompleted => describe!("The league is completed"),
            Self::AgentLearned { agent, learned } => {
                let found = match learned.quirks.iter().count() {
                    0 => String::from(": the manager has learned how to call it"),
                    quirks => format!(": quirks noted: {quirks}"),
                };
                match agent {
                    AgentId::Player(id) => describe!(id, found),
                    AgentId::Referee(id) => describe!(id, found),
                }
            }
            Self::DialectForgotten { player } => {
                describe!("The operator forgets the dialect that was learned for ", player)
            }
            Self::OperatorActed { origin, action } => {
                describe!(format!("The operator's call {action}, {}", origin.words()))
            }
            Self::Halted => describe!("The operator stops the league"),
            Self::Resumed => describe!("The operator resumes the league"),
        }
    }
}
