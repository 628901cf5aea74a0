//! Matches whose referee needs no pass, because the manager said that it may have none.

use league_protocol::id::MatchId;

use super::active_matches::MAX_ACTIVE;

/// The newest last; at most as many as the session keeps matches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct TrustedMatches(Vec<MatchId>);

impl TrustedMatches {
    /// The latest announcement counts.
    pub(super) fn announced(&mut self, match_id: &MatchId, shown: bool) {
        self.0.retain(|known| known != match_id);
        if shown {
            return;
        }
        if self.0.len() == MAX_ACTIVE {
            self.0.remove(0);
        }
        self.0.push(match_id.clone());
    }

    pub(super) fn holds(&self, match_id: &MatchId) -> bool {
        self.0.contains(match_id)
    }
}
