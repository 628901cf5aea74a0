//! The messages of referees, and what the player signs in its answers.
//!
//! The player signs for a referee that the manager appointed. In an attempt it signs one commitment for each referee, and one move
//! for each turn. So a referee cannot choose among several answers.

use std::sync::Arc;

use league_protocol::draw::{DrawNonce, Signature};
use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::acknowledgement::Acknowledgement;
use league_protocol::message::evidence::{DisputeReason, MatchInquiry, MatchTestimony};
use league_protocol::message::game_over::{GameOver, OwnResult, ResultStatus};
use league_protocol::message::invitation::{GameInvitation, GameJoinAck};
use league_protocol::message::round::AnnouncedMatch;
use league_protocol::sender::Sender;
use league_protocol::signature::{SignedJoin, SignedMove};
use league_protocol::table::Method;
use league_protocol::time::Timestamp;
use league_protocol::token::TokenDigest;
use smol_str::SmolStr;

use super::active_match::{ActiveMatch, AttemptKey, JoinState};
use super::evidence::Evidence;
use super::identity::SigningKey;
use super::made_moves::{MadeMove, Position};
use super::move_request::{AskedMove, MoveRequest};
use super::played::{Added, DrawCheck, PlayedMatch};
use super::state::{MatchStage, Membership};
use super::{PlayerIdentity, PlayerSession};

#[derive(Clone, PartialEq, Debug)]
pub struct GameOverOutcome {
    pub acknowledgement: Acknowledgement,
    /// The same result was known.
    pub repeated: bool,
}

/// The answer to a request for a move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChosenMove {
    pub played: SmolStr,
    pub signature: Option<Signature>,
}

impl PlayerSession {
    /// Uses `nonce` for a new attempt; a repeated invitation gets the first nonce again.
    pub fn invited(
        &mut self,
        head: &ReceivedEnvelope,
        invitation: &GameInvitation,
        nonce: DrawNonce,
        now: Timestamp,
    ) -> Result<GameJoinAck, RequestError> {
        const METHOD: Method = Method::GameInvitation;
        let match_id = &invitation.match_id;
        let (identity, signing_key) = self.check_referee_message(head, METHOD, match_id)?;
        let player_id = identity.player_id.clone();
        let signing_key = signing_key.map(|(digest, league)| (digest, league.clone()));
        let referee = referee_of(head);
        let key = AttemptKey { match_id, attempt: invitation.attempt, referee: referee.as_ref() };
        let signing_key = signing_key.filter(|_| key.attempt.is_some() && key.referee.is_some());
        self.check_attempt(key, METHOD)?;
        if let Some(assigned) = self.assignments.of(match_id, key.attempt)
            && assigned.contradicts(invitation.draw_commitment)
        {
            self.refuse_invitation(key, invitation);
            let message = format!("draw_commitment is another one than the manager announced for {match_id}");
            return Err(other_commitment(message));
        }
        let known = self.matches.exact(key);
        let bound =
            known.as_ref().is_some_and(|known| known.join.has_joined() && (signing_key.is_some() || known.is_signed()));
        let conversation = head.conversation_id.as_good().cloned();
        let draw_nonce = match known {
            Some(known) if known.repeats(invitation) => {
                known.conversation = conversation;
                known.nonce.clone()
            }
            Some(_) if bound => {
                self.dispute(key, DisputeReason::OtherCommitment);
                let message = format!(
                    "draw_commitment is another one than in the first invitation to this attempt at {match_id}"
                );
                return Err(other_commitment(message));
            }
            // What the player answered before the invitation still counts.
            Some(known) if !known.join.has_joined() => {
                if known.join != JoinState::Uninvited {
                    known.stage = MatchStage::Joined;
                }
                known.invite(invitation, JoinState::Joined);
                (known.conversation, known.nonce) = (conversation, nonce.clone());
                invitation.round_id.into_iter().for_each(|round| self.enter_round(round));
                nonce
            }
            Some(_) | None => {
                invitation.round_id.into_iter().for_each(|round| self.enter_round(round));
                let active = self.add_match(key);
                active.invite(invitation, JoinState::Joined);
                (active.conversation, active.nonce) = (conversation, nonce.clone());
                nonce
            }
        };
        let signature = signing_key.and_then(|signing_key| self.sign_join(&signing_key, key, &draw_nonce));
        Ok(GameJoinAck { draw_nonce: Some(draw_nonce), signature, ..join_ack(match_id, player_id, true, now) })
    }

    fn sign_join(
        &mut self,
        (digest, league): &(TokenDigest, LeagueId),
        key: AttemptKey<'_>,
        nonce: &DrawNonce,
    ) -> Option<Signature> {
        let active = self.matches.exact(key)?;
        active.join = JoinState::Signed;
        let (match_id, attempt, referee, commitment) = (key.match_id, key.attempt?, key.referee?, active.commitment);
        Some(SignedJoin { league, match_id, attempt, referee, commitment, nonce }.sign(digest))
    }

    /// The manager may ask what the player was shown.
    fn refuse_invitation(&mut self, key: AttemptKey<'_>, invitation: &GameInvitation) {
        self.dispute(key, DisputeReason::OtherCommitment);
        if self.matches.exact(key).is_none() {
            self.matches.add(ActiveMatch::uninvited(key));
        }
        if let Some(active) = self.matches.exact(key).filter(|active| !active.join.has_joined()) {
            active.invite(invitation, JoinState::Refused);
            active.stage = MatchStage::Over;
        }
    }

    pub fn declined(
        &mut self,
        head: &ReceivedEnvelope,
        invitation: &GameInvitation,
        reason: SmolStr,
        now: Timestamp,
    ) -> Result<GameJoinAck, RequestError> {
        let match_id = &invitation.match_id;
        let player_id = self.check_referee_message(head, Method::GameInvitation, match_id)?.0.player_id.clone();
        let referee = referee_of(head);
        let key = AttemptKey { match_id, attempt: invitation.attempt, referee: referee.as_ref() };
        if self.matches.exact(key).is_none() {
            let active = self.matches.add(ActiveMatch::uninvited(key));
            active.invite(invitation, JoinState::Declined);
            active.stage = MatchStage::Over;
        }
        Ok(GameJoinAck { reason: Some(reason), ..join_ack(match_id, player_id, false, now) })
    }

    /// Whether the referee of `match_id` needs no pass, because the manager said that it may have none.
    pub fn trusts_without_pass(&self, head: &ReceivedEnvelope, match_id: &MatchId) -> bool {
        let lacks_pass =
            |identity: &PlayerIdentity| identity.check_referee(head, Method::GameInvitation, match_id).is_err();
        self.trusted.holds(match_id) && self.identity.as_ref().is_some_and(lacks_pass)
    }

    /// Also true when the conversation of the invitation is unknown.
    pub fn continues_invitation(&mut self, head: &ReceivedEnvelope, match_id: &MatchId) -> bool {
        let referee = referee_of(head);
        let key = AttemptKey { match_id, attempt: None, referee: referee.as_ref() };
        let invited = self.matches.find(key).and_then(|active| active.conversation.as_ref());
        invited.is_none_or(|invited| head.conversation_id.as_good() == Some(invited))
    }

    fn add_match(&mut self, key: AttemptKey<'_>) -> &mut ActiveMatch {
        self.between_matches(Membership::MatchComplete);
        self.matches.add(ActiveMatch::uninvited(key))
    }

    /// Completes the referee's request with what the session knows.
    pub fn move_requested(
        &mut self,
        head: &ReceivedEnvelope,
        mut request: MoveRequest,
    ) -> Result<MoveRequest, RequestError> {
        let (method, match_id, asked) = (request.method, request.match_id.clone(), request.asked());
        self.check_referee_message(head, method, &match_id)?;
        let referee = referee_of(head);
        let key = AttemptKey { match_id: &match_id, attempt: request.attempt, referee: referee.as_ref() };
        self.check_attempt(key, method)?;
        // A foreign referee may ask without an invitation.
        if self.matches.find(key).is_none() {
            self.add_match(key);
        }
        let assigned = self.assignments.of(&match_id, key.attempt);
        let active = self.matches.find(key).ok_or_else(|| unknown(&match_id, method))?;
        let bound_otherwise =
            active.join.has_joined() && assigned.is_some_and(|assigned| assigned.contradicts(active.commitment));
        if active.join == JoinState::Refused || bound_otherwise {
            return Err(RequestError::new(ErrorCode::E010, method, not_joined(&match_id)));
        }
        active.opponent = active.opponent.take().or(request.opponent);
        active.round = active.round.or(request.round);
        active.show(&asked.position, &request.view, &request.game);
        active.learn(&request.finished_games);
        request.finished_games = Arc::clone(&active.games);
        (request.opponent, request.round) = (active.opponent.clone(), active.round);
        request.answered = self.earlier_answer(key, method, &asked.position)?.map(|made| made.played.clone());
        let stage = if request.answered.is_some() { MatchStage::Chosen } else { MatchStage::Choosing };
        self.matches.find(key).into_iter().for_each(|active| active.set_stage(stage));
        Ok(request)
    }

    /// Returns the answer that counts: the first one to this request. A signed answer that is asked for again is deposited with
    /// the manager, because the referee may say that there was none.
    pub fn move_chosen(
        &mut self,
        head: &ReceivedEnvelope,
        asked: &AskedMove,
        played: SmolStr,
    ) -> Result<ChosenMove, RequestError> {
        let AskedMove { method, match_id, attempt, position } = asked;
        self.myself(*method)?;
        let referee = referee_of(head);
        let key = AttemptKey { match_id, attempt: *attempt, referee: referee.as_ref() };
        let active = self.matches.find(key).ok_or_else(|| unknown(match_id, *method))?;
        active.set_stage(MatchStage::Chosen);
        let has_room = active.moves.has_room();
        let earlier = self.earlier_answer(key, *method, position)?.cloned();
        let made = match &earlier {
            Some(earlier) => earlier.clone(),
            None => MadeMove { position: *position, played, signature: None, deposited: false },
        };
        let signing = self.sign_move(head, match_id, &made);
        let signature = made.signature.or(signing);
        if made.signature.is_none() && signature.is_some() && !has_room {
            let message = format!("{match_id} has more moves than this player keeps");
            return Err(RequestError::new(ErrorCode::E010, *method, message));
        }
        let played = made.played.clone();
        if earlier.is_some() {
            self.repeat_answer(key, position, signature);
        } else if let Some(active) = self.matches.find(key) {
            active.moves.add(MadeMove { signature, ..made });
        }
        // A referee without a valid pass does not get a signature that another one got.
        Ok(ChosenMove { played, signature: signature.filter(|_| signing.is_some()) })
    }

    fn sign_move(&self, head: &ReceivedEnvelope, match_id: &MatchId, made: &MadeMove) -> Option<Signature> {
        let (digest, league) = self.identity.as_ref()?.signing_key(head, match_id)?;
        let (turn, view) = (made.position.turn?, made.position.view);
        Some(SignedMove { league, match_id, turn, view, played: &made.played }.sign(&digest))
    }

    fn repeat_answer(&mut self, key: AttemptKey<'_>, position: &Position, signature: Option<Signature>) {
        let Some(league) = self.identity.as_ref().and_then(|identity| identity.league_id.clone()) else { return };
        let Ok(Some(made)) = self.earlier_answer(key, Method::ChooseParity, position) else { return };
        made.signature = signature;
        let deposit = made.deposit(&league, key.match_id);
        deposit.into_iter().for_each(|deposit| self.evidence.deposit(deposit));
    }

    /// The answer to the same request before. An error if the player signed a move for this turn after another view: a second
    /// signed move for one turn would be its own fault.
    fn earlier_answer(
        &mut self,
        key: AttemptKey<'_>,
        method: Method,
        position: &Position,
    ) -> Result<Option<&mut MadeMove>, RequestError> {
        if let Some(turn) = position.turn.filter(|turn| self.matches.has_closed(key.match_id, turn)) {
            let message = format!("game {} of {} is over", turn.game, key.match_id);
            return Err(RequestError::new(ErrorCode::E010, method, message).about("game_number"));
        }
        let signed = position.turn.filter(|turn| self.matches.signed_in(key.match_id, turn).is_some());
        let Some(turn) = signed else {
            return Ok(self.matches.find(key).and_then(|active| active.moves.at(position)));
        };
        match self.matches.signed_in(key.match_id, &turn) {
            Some(made) if made.position.view != position.view => {
                let message = format!(
                    "turn {} of {} was shown with another state; the player has answered it, and signs one move for each turn",
                    turn.turn, key.match_id
                );
                Err(RequestError::new(ErrorCode::E010, method, message).about("context.state"))
            }
            made => Ok(made),
        }
    }

    /// The referee says that an answer was late: deposits the last signed move.
    pub fn answer_was_late(&mut self, head: &ReceivedEnvelope, match_id: &MatchId) {
        if self.check_referee_message(head, Method::NotifyGameError, match_id).is_err() {
            return;
        }
        let Some(league) = self.identity.as_ref().and_then(|identity| identity.league_id.clone()) else { return };
        let referee = referee_of(head);
        let key = AttemptKey { match_id, attempt: None, referee: referee.as_ref() };
        let last = self.matches.find(key).and_then(|active| active.moves.signed_mut().next_back());
        let deposit = last.and_then(|made| made.deposit(&league, match_id));
        deposit.into_iter().for_each(|deposit| self.evidence.deposit(deposit));
    }

    pub fn match_over(&mut self, head: &ReceivedEnvelope, over: &GameOver) -> Result<GameOverOutcome, RequestError> {
        let match_id = &over.match_id;
        let identity = self.check_referee_message(head, Method::NotifyMatchResult, match_id)?.0.clone();
        let referee = referee_of(head);
        let mut active = self.matches.find(AttemptKey { match_id, attempt: None, referee: referee.as_ref() });
        if let Some(active) = &mut active {
            active.learn(&over.finished_games);
        }
        // The session acknowledges even an unreadable result, because a repetition would not help.
        let played = PlayedMatch::of(over, &identity, active.as_deref());
        let is_late = self.round.is_some_and(|current| round_of(over).is_some_and(|round| round < current));
        let mut ends = false;
        let mut signed_attempt = None;
        if let Some(active) = active {
            ends = std::mem::replace(&mut active.stage, MatchStage::Over) != MatchStage::Over;
            active.revealed = true;
            signed_attempt = active.attempt.filter(|_| active.join == JoinState::Signed);
        }
        if let Some(attempt) = signed_attempt {
            let key = AttemptKey { match_id, attempt: Some(attempt), referee: referee.as_ref() };
            if played.as_ref().is_some_and(|played| played.draw == DrawCheck::Broken) {
                self.dispute(key, DisputeReason::BrokenDraw);
            }
            if self.names_other_move(over, played.as_ref(), attempt, &identity.player_id) {
                self.dispute(key, DisputeReason::OtherMove);
            }
        }
        let says_nothing = played.is_none();
        let added = played.map_or(Added::Known, |played| Arc::make_mut(&mut self.history).add(played));
        let news = ends || added == Added::New;
        // A result of an earlier round does not end the wait for the match of the current one.
        if news && !is_late {
            self.between_matches(Membership::MatchComplete);
        }
        let acknowledgement = Acknowledgement::of_player(identity.player_id).for_match(match_id.clone());
        Ok(GameOverOutcome { acknowledgement, repeated: added == Added::Known && !(says_nothing && news) })
    }

    /// Whether GAME_OVER names another move than the player signed. A move that it does not name was not received. After a technical
    /// loss the last move that the referee received may be an earlier one.
    fn names_other_move(&self, over: &GameOver, played: Option<&PlayedMatch>, attempt: u32, player: &PlayerId) -> bool {
        let result = over.game_result.as_ref();
        let listed = result.and_then(|result| result.choices.get(player)?.as_ref());
        let mut named = over.your_choice.iter().chain(listed);
        let is_technical = result.is_some_and(|result| result.status == Some(ResultStatus::TechnicalLoss))
            || played.is_some_and(|played| played.result == OwnResult::TechnicalLoss);
        let signed = self.matches.signed_moves(&over.match_id, attempt);
        if is_technical {
            return named.any(|named| !signed.contains(&named));
        }
        named.any(|named| Some(&named) != signed.last())
    }

    pub fn game_error(
        &self,
        head: &ReceivedEnvelope,
        match_id: Option<&MatchId>,
    ) -> Result<Acknowledgement, RequestError> {
        const METHOD: Method = Method::NotifyGameError;
        match match_id {
            Some(match_id) => {
                let player = self.check_referee_message(head, METHOD, match_id)?.0.player_id.clone();
                Ok(Acknowledgement::of_player(player).for_match(match_id.clone()))
            }
            None => {
                let identity = self.myself(METHOD)?;
                identity.check_named(METHOD)?;
                Ok(Acknowledgement::of_player(identity.player_id.clone()))
            }
        }
    }

    /// Compares an announcement with an invitation that came before it.
    pub(super) fn compare_commitments(&mut self, announced: &AnnouncedMatch) {
        let (match_id, attempt) = (&announced.match_id, announced.attempt);
        let key = AttemptKey { match_id, attempt, referee: announced.referee_id.as_ref() };
        let Some(assigned) = self.assignments.of(match_id, attempt) else { return };
        let shown = self.matches.find(key).filter(|active| active.join.has_joined()).map(|active| active.commitment);
        if shown.is_some_and(|shown| assigned.contradicts(shown)) {
            self.dispute(key, DisputeReason::OtherCommitment);
        }
    }

    /// Tells the manager what the player saw of an attempt.
    pub fn testify(&self, head: &ReceivedEnvelope, inquiry: &MatchInquiry) -> Result<MatchTestimony, RequestError> {
        self.check_manager_message(head, Method::ConfirmMatch, inquiry.league_id.as_ref())?;
        Ok(self.matches.testimony(&inquiry.match_id, inquiry.attempt))
    }

    /// What the player has to tell its manager since the last call.
    pub fn take_evidence(&mut self) -> Vec<Evidence> {
        self.evidence.take()
    }

    /// Says nothing about an attempt that another referee holds: the manager would blame that one.
    fn dispute(&mut self, key: AttemptKey<'_>, reason: DisputeReason) {
        let AttemptKey { match_id, attempt: Some(attempt), referee } = key else { return };
        let is_holder = self.assignments.of(match_id, key.attempt).is_none_or(|held| held.may_be_held_by(referee));
        let league = self.identity.as_ref().filter(|identity| identity.token.is_some());
        if let Some(identity) = league.filter(|_| is_holder) {
            self.evidence.dispute(identity.league_id.as_ref(), match_id, attempt, reason);
        }
    }

    fn check_attempt(&self, key: AttemptKey<'_>, method: Method) -> Result<(), RequestError> {
        let AttemptKey { match_id, attempt, referee } = key;
        if self.assignments.of(match_id, attempt).is_some_and(|held| !held.may_be_held_by(referee)) {
            let message = format!("the manager gave this attempt at {match_id} to another referee");
            return Err(RequestError::new(ErrorCode::E010, method, message).about("attempt"));
        }
        if self.matches.has_forgotten(key) {
            let message = format!("this attempt at {match_id} is over");
            return Err(RequestError::new(ErrorCode::E010, method, message).about("attempt"));
        }
        Ok(())
    }

    fn check_referee_message(
        &self,
        head: &ReceivedEnvelope,
        method: Method,
        match_id: &MatchId,
    ) -> Result<(&PlayerIdentity, Option<SigningKey<'_>>), RequestError> {
        let identity = self.myself(method)?;
        let signing_key = match identity.check_referee(head, method, match_id) {
            Err(_) if self.trusted.holds(match_id) => None,
            checked => checked?,
        };
        Ok((identity, signing_key))
    }
}

fn referee_of(head: &ReceivedEnvelope) -> Option<RefereeId> {
    head.sender.as_good().and_then(Sender::referee_id)
}

fn round_of(over: &GameOver) -> Option<RoundId> {
    over.round_id.or_else(|| over.match_id.parts().map(|(round, _)| round))
}

fn join_ack(match_id: &MatchId, player_id: PlayerId, accept: bool, now: Timestamp) -> GameJoinAck {
    GameJoinAck {
        match_id: Some(match_id.clone()),
        player_id: Some(player_id),
        arrival_timestamp: Some(now),
        accept: Some(accept),
        draw_nonce: None,
        reason: None,
        signature: None,
    }
}

fn other_commitment(message: String) -> RequestError {
    RequestError::new(ErrorCode::E010, Method::GameInvitation, message).about("draw_commitment")
}

fn not_joined(match_id: &MatchId) -> String {
    format!("the player does not play {match_id}: its referee showed another commitment than the manager announced")
}

fn unknown(match_id: &MatchId, method: Method) -> RequestError {
    RequestError::new(ErrorCode::E007, method, format!("{match_id} is not being played here")).about("match_id")
}
