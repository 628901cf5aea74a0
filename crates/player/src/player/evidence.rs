//! Tells the manager what speaks against a referee: signed moves that it asks for again, and what it said wrongly.
//!
//! It is sent in the background, because a referee waits for an answer. A manager that does not know these calls does no harm.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use league_core::session::Evidence;
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::id::{ConversationId, MatchId};
use league_protocol::table::Call;
use league_store::journal::JournalLevel;
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::Shared;

/// The most messages that wait for the manager at a time.
const MAX_UNSENT: usize = 32;
/// While the manager cannot be reached.
const TRIES: u32 = 3;
/// After the first try; it doubles. Short, because a deposit counts only before the deadline of its move.
const PAUSE: Duration = Duration::from_millis(250);
/// How long the end of a league waits for the last messages.
const LAST_LIMIT: Duration = Duration::from_secs(2);

/// The tasks end with the player.
#[derive(Debug, Default)]
pub(super) struct EvidenceTasks(Mutex<JoinSet<()>>);

impl EvidenceTasks {
    /// Returns false if too many messages wait.
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) -> bool {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        let has_room = tasks.len() < MAX_UNSENT;
        if has_room {
            tasks.spawn(work);
        }
        has_room
    }

    pub(super) async fn finish(&self) {
        let mut tasks = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        drop(timeout(LAST_LIMIT, async { while tasks.join_next().await.is_some() {} }).await);
    }
}

impl Shared {
    pub(super) fn send_evidence(&self) {
        let evidence = self.session().take_evidence();
        for evidence in evidence {
            match evidence {
                Evidence::Deposit(deposit) => {
                    let match_id = deposit.match_id.clone();
                    // Other players may read the log, so it does not name the move.
                    self.note(JournalLevel::Info, "MOVE_DEPOSITED", || {
                        format!("{match_id}: the referee misses a move that was answered; the manager gets it")
                    });
                    self.tell_manager(&match_id, "deposit", Call::DepositMove(deposit));
                }
                Evidence::Dispute(dispute) => {
                    let (match_id, words) = (dispute.match_id.clone(), dispute.reason.words());
                    let attempt = dispute.attempt;
                    tracing::warn!(%match_id, attempt, "this player {words}; the manager is told");
                    self.console.disputed(&dispute);
                    self.note(JournalLevel::Warn, "MATCH_DISPUTED", || {
                        format!("{match_id}, attempt {attempt}: this player {words}; the manager is told")
                    });
                    self.tell_manager(&match_id, "dispute", Call::DisputeMatch(dispute));
                }
            }
        }
    }

    fn tell_manager(&self, match_id: &MatchId, about: &str, call: Call) {
        let token = self.session().identity().and_then(|identity| identity.token.clone());
        let lower = match_id.as_str().to_ascii_lowercase();
        let conversation = ConversationId::named(format_args!("conv-{lower}-{about}"));
        let envelope = Envelope { auth_token: token.map(Into::into), ..self.envelope(Some(conversation), None) };
        let (client, manager) = (self.peer_client.client().clone(), self.settings.manager.clone());
        let limit = self.settings.answer_limit;
        if !self.evidence.spawn(deliver(client, manager, envelope, call, limit)) {
            tracing::warn!(%match_id, "too many messages wait for the manager; the {about} is dropped");
        }
    }
}

/// Tries again while the manager cannot be reached. Any answer ends it.
async fn deliver(client: Client, manager: Endpoint, envelope: Envelope, call: Call, limit: Duration) {
    let mut pause = PAUSE;
    for left in (0..TRIES).rev() {
        match client.call(&manager, &PeerDialect::default(), &envelope, &call, limit).await {
            Ok(_) => return,
            Err(error) if error.is_transient() && left > 0 => {
                sleep(pause).await;
                pause *= 2;
            }
            Err(error) => {
                tracing::warn!(%error, "the manager does not get {:?}", call.method());
                return;
            }
        }
    }
}
