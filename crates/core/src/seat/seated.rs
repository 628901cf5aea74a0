//! One match that a player is in.

use league_protocol::draw::{DrawCommitment, DrawNonce};
use league_protocol::id::{MatchId, PlayerId, RoundId};
use league_protocol::message::invitation::GameInvitation;
use league_protocol::side::Side;
use smol_str::SmolStr;

/// A match from the invitation to its result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Seated {
    pub(super) match_id: MatchId,
    pub(super) attempt: Option<u32>,
    pub(super) round: Option<RoundId>,
    pub(super) opponent: Option<PlayerId>,
    pub(super) side: Option<Side>,
    /// What the referee bound itself to.
    pub(super) commitment: Option<DrawCommitment>,
    /// What the player added to the draw.
    pub(super) nonce: DrawNonce,
    /// The position that the answer belongs to.
    pub(super) view: SmolStr,
    /// What the player answered, once it has.
    pub(super) answer: Option<SmolStr>,
}

impl Seated {
    pub(super) fn invited(invitation: &GameInvitation, nonce: DrawNonce) -> Self {
        Self {
            match_id: invitation.match_id.clone(),
            attempt: invitation.attempt,
            round: invitation.round_id,
            opponent: invitation.opponent_id.clone(),
            side: invitation.role_in_match,
            commitment: invitation.draw_commitment,
            nonce,
            view: SmolStr::default(),
            answer: None,
        }
    }

    pub(super) fn uninvited(match_id: MatchId) -> Self {
        Self {
            match_id,
            attempt: None,
            round: None,
            opponent: None,
            side: None,
            commitment: None,
            nonce: DrawNonce::default(),
            view: SmolStr::default(),
            answer: None,
        }
    }

    /// Whether this is the same invitation once more, and not a new attempt at the same match.
    pub(super) fn is_same_invitation(&self, invitation: &GameInvitation) -> bool {
        self.match_id == invitation.match_id
            && self.attempt == invitation.attempt
            && self.commitment == invitation.draw_commitment
    }
}
