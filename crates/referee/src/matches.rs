//! The matches of a referee: those that run, and the last ones that have ended.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use league_protocol::id::{MatchId, RoundId};
use league_protocol::message::start_match::StartMatch;
use league_protocol::message::step::MatchState;
use tokio::sync::mpsc;

use crate::match_runner::MatchInput;
use crate::orders::MatchPurpose;

/// Finished matches that the referee can still describe.
pub(crate) const REMEMBERED: usize = 1024;

/// How many matches may wait for the manager or for the acknowledgements of GAME_OVER.
const MAX_DECIDED: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Matches {
    pub(crate) running: HashMap<MatchId, Running>,
    pub(crate) finished: VecDeque<Finished>,
    /// How often the referee has registered. Attempts before the last registration say nothing about later ones.
    pub(crate) registrations: u32,
    /// Whether the referee refuses new matches.
    pub(crate) closing: bool,
    pub(crate) ordered: bool,
    pub(crate) rounds: VecDeque<(MatchId, RoundId)>,
    pub(crate) refereed: u32,
    pub(crate) forfeits: u32,
    pub(crate) forfeited: Vec<(MatchId, String)>,
}

#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) registration: u32,
    pub(crate) purpose: MatchPurpose,
    pub(crate) state: MatchState,
}

#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) attempt: u32,
    pub(crate) purpose: MatchPurpose,
    pub(crate) order: Arc<StartMatch>,
    pub(crate) posts: mpsc::Sender<MatchInput>,
    /// Its result is on the way to the manager and the players.
    pub(crate) is_decided: bool,
}

impl Running {
    /// A later attempt may have replaced the match of `order`.
    pub(crate) fn is(&self, order: &StartMatch, purpose: MatchPurpose) -> bool {
        self.attempt == order.attempt && self.purpose == purpose
    }
}

impl Matches {
    /// Decided matches need no capacity, because the manager gives the next match as soon as it has a report. Only their
    /// number is limited.
    pub(crate) fn is_full(&self, capacity: u32) -> bool {
        let decided = self.running.values().filter(|running| running.is_decided).count();
        self.running.len() - decided >= capacity as usize || decided >= MAX_DECIDED
    }

    pub(crate) fn remembered(&self, match_id: &MatchId) -> Option<&Finished> {
        self.finished.iter().rev().find(|finished| finished.state.match_id == *match_id)
    }

    /// Considers only attempts since the last registration.
    pub(crate) fn has_played(&self, match_id: &MatchId, attempt: u32) -> bool {
        let of_league =
            |finished: &&Finished| finished.purpose == MatchPurpose::League && finished.state.match_id == *match_id;
        let last = self.finished.iter().rev().find(of_league);
        last.is_some_and(|last| last.state.attempt == attempt && last.registration == self.registrations)
    }
}
