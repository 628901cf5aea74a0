use league_protocol::draw::{DrawCommitment, DrawNonce};
use league_protocol::id::{ConversationId, MatchId, PlayerId, RoundId};
use league_protocol::message::invitation::GameInvitation;
use league_protocol::seal::digest;
use league_protocol::side::Side;
use smol_str::SmolStr;

use super::state::MatchStage;

/// The most positions per match whose answers are kept: more than our games have, and a bound on hostile referees.
const MAX_POSITIONS: usize = 64;

/// Kept after the result, to answer repeated messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ActiveMatch {
    pub(super) match_id: MatchId,
    pub(super) attempt: Option<u32>,
    pub(super) round: Option<RoundId>,
    pub(super) opponent: Option<PlayerId>,
    pub(super) side: Option<Side>,
    pub(super) commitment: Option<DrawCommitment>,
    pub(super) nonce: DrawNonce,
    pub(super) stage: MatchStage,
    pub(super) conversation: Option<ConversationId>,
    asked: SeenPosition,
    /// The newest last.
    answers: Vec<(SeenPosition, SmolStr)>,
}

/// A digest identifies a position, so memory does not depend on its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct SeenPosition([u8; 32]);

impl SeenPosition {
    fn of(view: &str) -> Self {
        Self(digest(view.as_bytes()))
    }
}

impl ActiveMatch {
    pub(super) fn invited(invitation: &GameInvitation, nonce: DrawNonce, conversation: Option<ConversationId>) -> Self {
        Self {
            attempt: invitation.attempt,
            round: invitation.round_id,
            opponent: invitation.opponent_id.clone(),
            side: invitation.role_in_match,
            commitment: invitation.draw_commitment,
            nonce,
            conversation,
            ..Self::uninvited(invitation.match_id.clone())
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
            stage: MatchStage::Joined,
            conversation: None,
            asked: SeenPosition::of(""),
            answers: Vec::new(),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.stage != MatchStage::Over
    }

    /// Whether this repeats the invitation, as opposed to a new attempt at the match.
    pub(super) fn is_same_invitation(&self, invitation: &GameInvitation) -> bool {
        // A foreign referee sends neither attempt nor commitment. After a result, its invitation starts a new attempt.
        let marked = invitation.attempt.is_some() || invitation.draw_commitment.is_some();
        self.match_id == invitation.match_id
            && self.attempt == invitation.attempt
            && self.commitment == invitation.draw_commitment
            && (marked || self.is_open())
    }

    /// A different `view` makes it a different question of the same match.
    pub(super) fn request_move(&mut self, view: &str) {
        self.asked = SeenPosition::of(view);
        let stage = if self.answer().is_some() { MatchStage::Chosen } else { MatchStage::Choosing };
        self.set_stage(stage);
    }

    pub(super) fn answer(&self) -> Option<&SmolStr> {
        self.answers.iter().rev().find(|(position, _)| *position == self.asked).map(|(_, answer)| answer)
    }

    /// Returns the answer that counts: the first one.
    pub(super) fn choose(&mut self, answer: SmolStr) -> SmolStr {
        self.set_stage(MatchStage::Chosen);
        if let Some(first) = self.answer() {
            return first.clone();
        }
        if self.answers.len() == MAX_POSITIONS {
            self.answers.remove(0);
        }
        self.answers.push((self.asked, answer.clone()));
        answer
    }

    /// A late question does not reopen a match.
    fn set_stage(&mut self, stage: MatchStage) {
        if self.is_open() {
            self.stage = stage;
        }
    }
}
