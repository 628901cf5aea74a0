//! Which referee holds an attempt and to which commitment it is bound, as the manager announced it.

use league_protocol::draw::DrawCommitment;
use league_protocol::id::{MatchId, RefereeId};
use league_protocol::message::round::AnnouncedMatch;

use super::active_matches::MAX_ACTIVE;

/// The newest last, each attempt once; at most as many as the session keeps matches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Assignments(Vec<Assignment>);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Assignment {
    match_id: MatchId,
    attempt: u32,
    referee: Option<RefereeId>,
    commitment: Option<DrawCommitment>,
}

impl Assignment {
    /// Whether `referee` may hold the attempt. The announcement or the message may name no referee.
    pub(super) fn may_be_held_by(&self, referee: Option<&RefereeId>) -> bool {
        self.referee.as_ref().zip(referee).is_none_or(|(holder, referee)| holder == referee)
    }

    /// A missing commitment contradicts the announced one too: a referee must not get rid of it by leaving it out.
    pub(super) fn contradicts(&self, shown: Option<DrawCommitment>) -> bool {
        self.commitment.is_some_and(|announced| shown != Some(announced))
    }
}

impl Assignments {
    /// The latest announcement of an attempt counts. One without an attempt is a plan, which may change.
    pub(super) fn announced(&mut self, announced: &AnnouncedMatch) {
        let Some(attempt) = announced.attempt else { return };
        self.0.retain(|known| !(known.match_id == announced.match_id && known.attempt == attempt));
        if self.0.len() == MAX_ACTIVE {
            self.0.remove(0);
        }
        self.0.push(Assignment {
            match_id: announced.match_id.clone(),
            attempt,
            referee: announced.referee_id.clone(),
            commitment: announced.draw_commitment,
        });
    }

    pub(super) fn of(&self, match_id: &MatchId, attempt: Option<u32>) -> Option<&Assignment> {
        self.0.iter().rfind(|known| known.match_id == *match_id && Some(known.attempt) == attempt)
    }
}
