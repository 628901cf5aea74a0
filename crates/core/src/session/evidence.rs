//! What a player tells its manager about a referee: each thing once.

use league_protocol::id::{LeagueId, MatchId};
use league_protocol::message::evidence::{DisputeReason, MatchDispute, MoveDeposit};

/// More than a league needs, and a bound on hostile referees. The oldest are dropped first.
const MAX_UNSENT: usize = 32;
const MAX_DISPUTED: usize = 256;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// A signed move that the referee seems to have lost.
    Deposit(MoveDeposit),
    Dispute(MatchDispute),
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct EvidenceQueue {
    unsent: Vec<Evidence>,
    /// Kept after sending, so that a repeated message of a referee causes no second dispute.
    disputed: Vec<(MatchId, u32, DisputeReason)>,
}

impl EvidenceQueue {
    pub(super) fn deposit(&mut self, deposit: MoveDeposit) {
        self.push(Evidence::Deposit(deposit));
    }

    pub(super) fn dispute(
        &mut self,
        league: Option<&LeagueId>,
        match_id: &MatchId,
        attempt: u32,
        reason: DisputeReason,
    ) {
        let about = (match_id.clone(), attempt, reason);
        if self.disputed.contains(&about) {
            return;
        }
        if self.disputed.len() == MAX_DISPUTED {
            self.disputed.remove(0);
        }
        self.disputed.push(about);
        let (league_id, match_id) = (league.cloned(), match_id.clone());
        self.push(Evidence::Dispute(MatchDispute { league_id, match_id, attempt, reason }));
    }

    fn push(&mut self, evidence: Evidence) {
        if self.unsent.len() == MAX_UNSENT {
            self.unsent.remove(0);
        }
        self.unsent.push(evidence);
    }

    pub(super) fn take(&mut self) -> Vec<Evidence> {
        std::mem::take(&mut self.unsent)
    }
}
