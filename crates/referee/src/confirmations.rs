//! Tells the manager that the players of a match know its result (GAME_OVER_CONFIRMATION).
//!
//! The manager tells these players nothing else until then, for at most five seconds, so a confirmation is sent at once.
//! One call is under way at a time. It carries the matches that ended during the call before it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use league_protocol::envelope::Envelope;
use league_protocol::id::{ConversationId, MatchId};
use league_protocol::message::evidence::GameOverConfirmation;
use league_protocol::sender::Sender;
use league_protocol::table::Call;
use league_store::journal::JournalLevel;
use league_wire::peer_client::{OutgoingCall, Peer};

use crate::referee::Shared;
use crate::registration::RefereeIdentity;
use crate::report::understood;

/// The most matches in one call.
const MAX_MATCHES: usize = 1024;

/// The most matches that wait. The manager needs no confirmation of the others, it only waits longer.
const MAX_WAITING: usize = 16 * MAX_MATCHES;

/// After this the manager no longer waits.
const LIMIT: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(crate) struct Confirmations(Mutex<Due>);

#[derive(Debug, Default)]
struct Due {
    matches: VecDeque<(RefereeIdentity, MatchId)>,
    is_sending: bool,
}

impl Confirmations {
    fn due(&self) -> MutexGuard<'_, Due> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the caller has to send.
    fn add(&self, appointed: RefereeIdentity, match_id: MatchId) -> bool {
        let mut due = self.due();
        if due.matches.len() == MAX_WAITING {
            tracing::warn!(%match_id, "too many confirmations wait; this one is not sent");
            return false;
        }
        due.matches.push_back((appointed, match_id));
        !std::mem::replace(&mut due.is_sending, true)
    }

    /// The matches of the next call, all of one manager. `None` ends the sending.
    fn next(&self) -> Option<(RefereeIdentity, Vec<MatchId>)> {
        let mut due = self.due();
        let Some((appointed, first)) = due.matches.pop_front() else {
            due.is_sending = false;
            return None;
        };
        let mut match_ids = vec![first];
        while match_ids.len() < MAX_MATCHES
            && due.matches.front().is_some_and(|(other, _)| other.manager == appointed.manager)
        {
            match_ids.extend(due.matches.pop_front().map(|(_, match_id)| match_id));
        }
        Some((appointed, match_ids))
    }
}

impl Shared {
    pub(crate) fn confirm_game_over(self: &Arc<Self>, appointed: RefereeIdentity, match_id: MatchId) {
        if !self.confirmations.add(appointed, match_id) {
            return;
        }
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            while let Some((appointed, match_ids)) = shared.confirmations.next() {
                shared.send_confirmation(&appointed, match_ids).await;
            }
        });
    }

    /// One try: a later one would come after the manager has stopped waiting.
    async fn send_confirmation(&self, appointed: &RefereeIdentity, match_ids: Vec<MatchId>) {
        let RefereeIdentity { id, token, manager, dialect, .. } = self.identity_since(appointed);
        let conversation = ConversationId::named("conv-game-over");
        let sender = Sender::referee(&id);
        let envelope = Envelope { sender, ..self.envelope(Some(conversation), token.map(Into::into)) };
        let count = match_ids.len();
        let call = Call::ConfirmGameOver(GameOverConfirmation { match_ids });
        let limit = self.settings.answer_limit.min(LIMIT);
        let message = OutgoingCall { envelope: &envelope, call: &call, body: None, limit, notice: false };
        let peer = Peer { endpoint: &manager, dialect: &dialect, proven: true };
        let mut tries = Vec::new();
        self.peer_client.send(peer, message, &understood, &mut tries).await;
        let Some(last) = tries.pop() else { return };
        let (Ok(outcome) | Err(outcome)) = last.outcome();
        tracing::debug!(count, outcome, "GAME_OVER confirmed");
        self.note(JournalLevel::Debug, "GAME_OVER_CONFIRMATION", || {
            format!("GAME_OVER of {count} matches confirmed to the manager: {outcome}")
        });
    }
}

#[cfg(test)]
mod tests {
    use league_protocol::dialect::PeerDialect;
    use league_protocol::id::{RefereeId, RoundId};

    use super::*;

    fn identity(port: u16) -> RefereeIdentity {
        RefereeIdentity {
            id: RefereeId::numbered(1),
            league: None,
            token: None,
            passes: true,
            operator_needs_token: false,
            manager: format!("http://127.0.0.1:{port}/mcp").parse().unwrap(),
            dialect: PeerDialect::default(),
            proven: true,
        }
    }

    #[test]
    fn a_call_carries_at_most_1024_matches_of_one_manager_and_one_call_is_under_way() {
        let confirmations = Confirmations::default();
        let add = |port: u16, number: u32| confirmations.add(identity(port), MatchId::of(RoundId(1), number));
        assert!(add(1, 1));
        assert!((2..=1500).all(|number| !add(1, number)) && !add(2, 1501));
        let counts: Vec<usize> =
            std::iter::from_fn(|| confirmations.next()).map(|(_, match_ids)| match_ids.len()).collect();
        assert_eq!(counts, [1024, 476, 1]);
        assert!(add(1, 1), "the sending had ended");
        assert!((0..2 * MAX_WAITING as u32).all(|number| !add(1, number)));
        assert_eq!(confirmations.due().matches.len(), MAX_WAITING);
    }
}
