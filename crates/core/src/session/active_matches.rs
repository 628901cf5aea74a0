//! The matches that a player sits at, or sat at a while ago: a bounded number of them.

use league_protocol::id::{MatchId, RoundId};

use super::active_match::ActiveMatch;
use super::state::MatchStage;

/// The most matches that are kept: far more than any league asks for at a time, few enough to bound a hostile one. All of them are looked through for
/// every match: four times as many took one part in a hundred of a league's time.
pub(super) const MAX_TABLES: usize = 16;

/// The matches that a player knows of, the newest last, each once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct ActiveMatches(Vec<ActiveMatch>);

impl ActiveMatches {
    pub(super) fn find(&mut self, match_id: &MatchId) -> Option<&mut ActiveMatch> {
        // Mostly the newest is meant.
        self.0.iter_mut().rfind(|seated| seated.match_id == *match_id)
    }

    /// Whether a match has been begun here.
    pub(super) fn knows(&self, match_id: &MatchId) -> bool {
        self.0.iter().any(|seated| seated.match_id == *match_id)
    }

    /// Whether no match has been begun.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The newest match without a result.
    pub(super) fn newest_open(&self) -> Option<&ActiveMatch> {
        self.0.iter().rev().find(|seated| seated.is_open())
    }

    /// Sits down to a match, in place of an earlier attempt at it. When there is no room, one that is over is forgotten, and
    /// the oldest where none is.
    pub(super) fn sit(&mut self, seated: ActiveMatch) {
        self.0.retain(|known| known.match_id != seated.match_id);
        if self.0.len() == MAX_TABLES {
            let over = self.0.iter().position(|known| !known.is_open());
            self.0.remove(over.unwrap_or(0));
        }
        self.0.push(seated);
    }

    /// The league has come to `round`: no result of an earlier one is waited for. Should it still come, it is welcome.
    pub(super) fn close_before(&mut self, round: RoundId) {
        for seated in self.0.iter_mut().filter(|seated| seated.round.is_none_or(|played| played < round)) {
            seated.stage = MatchStage::Over;
        }
    }
}
