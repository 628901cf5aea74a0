//! How quickly referees have answered of late: for people to look at. Nothing is decided by it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use league_core::season::agent::AgentId;
use league_protocol::id::RefereeId;

use crate::manager::Manager;

/// How many answers are remembered of each.
const LATELY: usize = 15;

/// The last answers of everybody who was asked.
#[derive(Debug, Default)]
pub(crate) struct Promptness(Mutex<HashMap<AgentId, VecDeque<Duration>>>);

impl Promptness {
    pub(crate) fn note(&self, who: &AgentId, took: Option<Duration>) {
        let Some(took) = took else { return };
        let mut promptness = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lately = promptness.entry(who.clone()).or_default();
        if lately.len() == LATELY {
            lately.pop_front();
        }
        lately.push_back(took);
    }

    /// The one in the middle of somebody's last answers.
    fn middle(&self, who: &AgentId) -> Option<Duration> {
        let promptness = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lately: Vec<Duration> = promptness.get(who)?.iter().copied().collect();
        lately.sort_unstable();
        lately.get(lately.len() / 2).copied()
    }
}

impl Manager {
    /// How long a referee takes to answer an order or a ping; nothing before it has answered one.
    pub fn promptness(&self, referee: &RefereeId) -> Option<Duration> {
        self.shared.promptness.middle(&AgentId::Referee(referee.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_long_ago_is_forgotten_and_one_slow_answer_moves_nothing() {
        let (promptness, who) = (Promptness::default(), AgentId::Referee(RefereeId::numbered(1)));
        assert_eq!(promptness.middle(&who), None);
        promptness.note(&who, None);
        for millis in [900; LATELY].into_iter().chain([3; LATELY - 1]) {
            promptness.note(&who, Some(Duration::from_millis(millis)));
        }
        assert_eq!(promptness.middle(&who), Some(Duration::from_millis(3)));
    }
}
