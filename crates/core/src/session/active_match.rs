//! One match that a player is in.

use league_protocol::draw::{DrawCommitment, DrawNonce};
use league_protocol::id::{ConversationId, MatchId, PlayerId, RoundId};
use league_protocol::message::invitation::GameInvitation;
use league_protocol::seal::digest;
use league_protocol::side::Side;
use smol_str::SmolStr;

use super::state::MatchStage;

/// The most positions of one match whose answers are kept: more than a game of ours has, few enough to bound a hostile one.
const MAX_POSITIONS: usize = 64;

/// A match from the invitation on. It is kept beyond its result, for whatever comes twice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ActiveMatch {
    pub(super) match_id: MatchId,
    pub(super) attempt: Option<u32>,
    pub(super) round: Option<RoundId>,
    pub(super) opponent: Option<PlayerId>,
    pub(super) side: Option<Side>,
    /// What the referee bound itself to.
    pub(super) commitment: Option<DrawCommitment>,
    /// What the player added to the draw.
    pub(super) nonce: DrawNonce,
    pub(super) stage: MatchStage,
    pub(super) conversation: Option<ConversationId>,
    /// The position that was asked about last.
    asked: SeenPosition,
    /// What the player answered in each position, the newest last.
    answers: Vec<(SeenPosition, SmolStr)>,
}

/// A position in a game. Its digest is enough to know it again, however long it was written.
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

    /// Whether this is the same invitation once more, and not a new attempt at the same match.
    pub(super) fn is_same_invitation(&self, invitation: &GameInvitation) -> bool {
        // A referee of other make numbers no attempts and binds itself to nothing: after a result, it begins anew.
        let marked = invitation.attempt.is_some() || invitation.draw_commitment.is_some();
        self.match_id == invitation.match_id
            && self.attempt == invitation.attempt
            && self.commitment == invitation.draw_commitment
            && (marked || self.is_open())
    }

    /// The player is asked what to do in the position that `view` shows. With another position on the board it is another
    /// question, though the match is the same.
    pub(super) fn ask(&mut self, view: &str) {
        self.asked = SeenPosition::of(view);
        let stage = if self.answer().is_some() { MatchStage::Chosen } else { MatchStage::Choosing };
        self.go_on(stage);
    }

    /// What the player answered to the question that was asked last.
    pub(super) fn answer(&self) -> Option<&SmolStr> {
        self.answers.iter().rev().find(|(position, _)| *position == self.asked).map(|(_, answer)| answer)
    }

    /// The player answers that question. Gives what stands: the first answer.
    pub(super) fn choose(&mut self, answer: SmolStr) -> SmolStr {
        self.go_on(MatchStage::Chosen);
        if let Some(first) = self.answer() {
            return first.clone();
        }
        if self.answers.len() == MAX_POSITIONS {
            self.answers.remove(0);
        }
        self.answers.push((self.asked, answer.clone()));
        answer
    }

    /// A question that comes late does not open a match again.
    fn go_on(&mut self, stage: MatchStage) {
        if self.is_open() {
            self.stage = stage;
        }
    }
}
