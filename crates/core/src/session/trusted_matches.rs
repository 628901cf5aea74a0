//! The matches in which the referee is taken on trust: the manager has said that it may be one that shows no passes.

use league_protocol::id::MatchId;

use super::active_matches::MAX_TABLES;

/// Such matches, the newest last; as many as a player can sit at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct TrustedMatches(Vec<MatchId>);

impl TrustedMatches {
    /// A match was announced, and whether its referee shows passes. What is said last counts.
    pub(super) fn announced(&mut self, match_id: &MatchId, shown: bool) {
        self.0.retain(|known| known != match_id);
        if shown {
            return;
        }
        if self.0.len() == MAX_TABLES {
            self.0.remove(0);
        }
        self.0.push(match_id.clone());
    }

    /// Whether the referee of a match need not prove itself.
    pub(super) fn holds(&self, match_id: &MatchId) -> bool {
        self.0.contains(match_id)
    }
}
