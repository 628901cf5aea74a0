//! A bounded list of the matches that a player is in or was in recently.

use league_protocol::id::{MatchId, RoundId};

use super::active_match::ActiveMatch;
use super::state::MatchStage;

/// More than any league needs at a time, and a bound on hostile referees. Each lookup scans the list; four times as many took 1 %
/// of a league's time.
pub(super) const MAX_ACTIVE: usize = 16;

/// The newest last, each match once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct ActiveMatches(Vec<ActiveMatch>);

impl ActiveMatches {
    pub(super) fn find(&mut self, match_id: &MatchId) -> Option<&mut ActiveMatch> {
        // Usually the newest match is meant.
        self.0.iter_mut().rfind(|active| active.match_id == *match_id)
    }

    pub(super) fn knows(&self, match_id: &MatchId) -> bool {
        self.0.iter().any(|active| active.match_id == *match_id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn newest_open(&self) -> Option<&ActiveMatch> {
        self.0.iter().rev().find(|active| active.is_open())
    }

    /// Replaces an earlier attempt at the same match. A full list drops a match that is over, or else the oldest.
    pub(super) fn add(&mut self, active: ActiveMatch) {
        self.0.retain(|known| known.match_id != active.match_id);
        if self.0.len() == MAX_ACTIVE {
            let over = self.0.iter().position(|known| !known.is_open());
            self.0.remove(over.unwrap_or(0));
        }
        self.0.push(active);
    }

    /// The player no longer waits for results of rounds before `round`, but accepts them.
    pub(super) fn close_before(&mut self, round: RoundId) {
        for active in self.0.iter_mut().filter(|active| active.round.is_none_or(|played| played < round)) {
            active.stage = MatchStage::Over;
        }
    }
}
