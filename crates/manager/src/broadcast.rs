//! Sends notices: each agent gets its notices in order, many agents at the same time.
//!
//! At most [`AT_A_TIME`] agents are served at a time, so that the manager can answer calls meanwhile. An agent that does
//! not answer within [`MOMENT`] loses its place and delays only its own matches. Notices that are due together travel as
//! one JSON-RPC batch to agents that declared batches at registration.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::pin::pin;
use std::slice::from_ref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{Shared as SharedFuture, join_all};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use league_core::season::CommandOutcome;
use league_core::season::agent::AgentId;
use league_protocol::envelope::Envelope;
use league_protocol::message::report::LearnedDialect;
use league_protocol::quirk::Quirk;
use league_protocol::table::Method;
use league_store::journal::JournalLevel;
use league_wire::breaker::Breakers;
use league_wire::client::Client;
use league_wire::exchange::{CallError, Failure};
use league_wire::peer_client::{OutgoingCall, Peer, PeerClient, SendAttempt, SendOutcome, is_acknowledged};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, sleep, timeout};

use crate::manager::Shared;
use crate::notices::{Announcement, Notice, Recipient, envelope};

const AT_A_TIME: usize = 24;
const MOMENT: Duration = Duration::from_millis(50);
const BETWEEN_TRIES: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(crate) struct Broadcaster {
    pub(crate) client: PeerClient,
    breakers: Breakers,
    places: Semaphore,
    /// Agents that declared batches and failed one.
    unbatched: Mutex<HashSet<AgentId>>,
}

impl Broadcaster {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client: PeerClient::new(client),
            breakers: Breakers::default(),
            places: Semaphore::new(AT_A_TIME),
            unbatched: Mutex::default(),
        }
    }

    /// Runs `work` when a place is free, and frees the place when `work` takes longer than `MOMENT`.
    async fn in_turn<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let place = self.places.acquire().await;
        match timeout(MOMENT, work.as_mut()).await {
            Ok(done) => done,
            Err(_) => {
                drop(place);
                work.await
            }
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct DeliveryBarrier(HashMap<AgentId, SharedFuture<oneshot::Receiver<()>>>);

impl DeliveryBarrier {
    /// Also returns when an agent cannot be reached. Does not wait for agents outside the broadcast.
    pub(crate) async fn wait_for(&self, agents: impl IntoIterator<Item = AgentId>) {
        join_all(agents.into_iter().filter_map(|agent| self.0.get(&agent).cloned())).await;
    }
}

#[derive(Default)]
pub(crate) struct Broadcast {
    groups: Vec<Group>,
    barrier: DeliveryBarrier,
}

/// The barrier waits until the sender of an agent is dropped.
struct Group {
    announcements: Vec<Announcement>,
    recipients: Vec<(Recipient, oneshot::Sender<()>)>,
}

impl Broadcast {
    #[must_use]
    pub(crate) fn to(mut self, recipients: Vec<Recipient>, announcements: Vec<Announcement>) -> Self {
        let addressed = recipients.into_iter().map(|recipient| {
            let (telling, told) = oneshot::channel();
            self.barrier.0.insert(recipient.id.clone(), told.shared());
            (recipient, telling)
        });
        let recipients = addressed.collect();
        self.groups.push(Group { announcements, recipients });
        self
    }

    pub(crate) fn barrier(&mut self) -> Arc<DeliveryBarrier> {
        Arc::new(std::mem::take(&mut self.barrier))
    }
}

impl Shared {
    pub(crate) async fn tell(&self, recipients: Vec<Recipient>, announcements: Vec<Announcement>) {
        self.broadcast(Broadcast::default().to(recipients, announcements), Duration::ZERO).await;
    }

    /// Retries an agent that does not listen yet until `grace` ends.
    pub(crate) async fn broadcast(&self, broadcast: Broadcast, grace: Duration) {
        let groups = broadcast.groups.into_iter().map(async |Group { announcements, recipients }| {
            let telling = recipients.into_iter().map(async |(recipient, told)| {
                self.broadcaster.in_turn(self.tell_one(recipient, &announcements, grace)).await;
                drop(told);
            });
            telling.collect::<FuturesUnordered<_>>().collect::<()>().await;
            announcements.iter().for_each(|announcement| self.note_told(announcement));
        });
        join_all(groups).await;
    }

    async fn tell_one(&self, mut to: Recipient, announcements: &[Announcement], grace: Duration) {
        let notices: Vec<Cow<'_, Notice>> = announcements.iter().map(|announcement| announcement.to(&to.id)).collect();
        let mut reached = false;
        match self.send_batch(&to, &notices).await {
            Ok(Some(attempts)) => {
                for ((announcement, notice), attempt) in announcements.iter().zip(&notices).zip(&attempts) {
                    let understood = attempt.result.as_ref().is_ok_and(is_acknowledged);
                    self.note_sent(&to.id, &notice.conversation, from_ref(attempt), understood);
                    announcement.answers.count(understood);
                }
                return;
            }
            Ok(None) => {}
            Err(error) => reached = matches!(error.kind, Failure::HungUp(_)),
        }
        let (patient_until, mut found) = (Instant::now() + grace, LearnedDialect::default());
        for (announcement, notice) in announcements.iter().zip(&notices) {
            let mut waited = false;
            let (sent, attempts) = loop {
                let (sent, attempts) = self.send_notice(&to, notice, grace.is_zero()).await;
                if Instant::now() >= patient_until || !is_unreachable(&attempts) {
                    break (sent, attempts);
                }
                if !std::mem::replace(&mut waited, true) {
                    self.log(JournalLevel::Info, "AGENT_NOT_LISTENING", || {
                        format!("{} does not listen yet; it is tried again for {grace:?}", to.id.as_str())
                    });
                }
                sleep(BETWEEN_TRIES).await;
            };
            self.note_sent(&to.id, &notice.conversation, &attempts, sent.understood);
            if !attempts.is_empty() {
                announcement.answers.count(sent.understood);
            }
            let answered = attempts.last().is_some_and(|last| last.result.is_ok());
            found.quirks = found.quirks.and(sent.quirks);
            if waited && answered {
                found.quirks.note(Quirk::ListensLate);
            }
            // The agent answered before and is unreachable now: it treats this notice as the signal to leave.
            if reached && notice.call.method() == Method::NotifyLeagueCompleted && is_unreachable(&attempts) {
                found.quirks.note(Quirk::LeavesAtTheEnd);
            }
            reached |= answered;
            if let Some(learned) = sent.learned {
                to.dialect = learned.clone();
                found.dialect = Some(learned);
            }
        }
        self.learn(to.id, found).await;
    }

    /// Returns `None` unless the agent accepts batches and answers each notice. An agent that fails a batch gets single
    /// requests from then on; an unreachable agent has not failed it.
    async fn send_batch(
        &self,
        to: &Recipient,
        notices: &[Cow<'_, Notice>],
    ) -> Result<Option<Vec<SendAttempt>>, CallError> {
        let Broadcaster { client, breakers, unbatched, .. } = &self.broadcaster;
        let unbatched = || unbatched.lock().unwrap_or_else(PoisonError::into_inner);
        let is_batch = notices.len() > 1 && to.accepts_batches && to.dialect.is_canonical();
        if !is_batch || unbatched().contains(&to.id) || !breakers.admit(&to.endpoint, Instant::now()) {
            return Ok(None);
        }
        let envelopes: Vec<Envelope> = notices.iter().map(|notice| self.envelope_of(to, notice)).collect();
        let calls: Vec<_> =
            notices.iter().zip(&envelopes).map(|(notice, envelope)| self.call(notice, envelope)).collect();
        let answered = client.send_batch(&to.endpoint, &calls).await;
        breakers.note(&to.endpoint, answered.as_ref().is_err_and(CallError::is_transient), Instant::now());
        let failed = match &answered {
            Ok(answers) => answers.is_none(),
            Err(error) => matches!(error.kind, Failure::TimedOut | Failure::HungUp(_) | Failure::TooLong),
        };
        if failed {
            tracing::warn!(agent = to.id.as_str(), "the agent declared batches and fails one; it gets single requests");
            unbatched().insert(to.id.clone());
        }
        answered
    }

    async fn send_notice(&self, to: &Recipient, notice: &Notice, guarded: bool) -> (SendOutcome, Vec<SendAttempt>) {
        let envelope = self.envelope_of(to, notice);
        let peer = Peer { endpoint: &to.endpoint, dialect: &to.dialect, proven: false };
        let mut attempts = Vec::new();
        // Failures during the grace period say nothing about later notices.
        let breakers = guarded.then_some(&self.broadcaster.breakers);
        let sent = self
            .broadcaster
            .client
            .send_guarded(breakers, peer, self.call(notice, &envelope), is_acknowledged, &mut attempts)
            .await;
        (sent, attempts)
    }

    fn envelope_of(&self, to: &Recipient, notice: &Notice) -> Envelope {
        envelope(notice.conversation.clone(), self.environment.now(), Some(to.pass.clone()))
    }

    fn call<'a>(&self, notice: &'a Notice, envelope: &'a Envelope) -> OutgoingCall<'a> {
        let (call, body, limit) = (&notice.call, notice.body.as_deref(), self.settings.answer_limit);
        OutgoingCall { envelope, call, body, limit, notice: true }
    }

    pub(crate) async fn learn(&self, agent: AgentId, found: LearnedDialect) {
        if found.is_nothing() {
            return;
        }
        let noted = self.league_handle.command(move |season, now| {
            let events = season.learn(&agent, &found, now).into_iter().collect();
            Ok(CommandOutcome { events, reply: () })
        });
        if let Err(fault) = noted.await {
            tracing::debug!(fault = fault.message, "what was found out about an agent could not be kept");
        }
    }
}

fn is_unreachable(attempts: &[SendAttempt]) -> bool {
    let failure = attempts.last().and_then(|last| last.result.as_ref().err()).map(|error| &error.kind);
    matches!(failure, Some(Failure::NotListening | Failure::Unreachable(_) | Failure::HungUp(_)))
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use league_protocol::id::{PlayerId, RefereeId};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_bounded_number_of_agents_is_told_at_a_time() {
        let (broadcaster, now, most) = (Broadcaster::new(Client::default()), AtomicUsize::new(0), AtomicUsize::new(0));
        let tell = async |_| {
            most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            sleep(Duration::from_millis(1)).await;
            now.fetch_sub(1, Ordering::Relaxed);
        };
        join_all((0..100).map(|number| broadcaster.in_turn(tell(number)))).await;
        assert_eq!(most.into_inner(), AT_A_TIME);
    }

    #[tokio::test(start_paused = true)]
    async fn silent_agents_do_not_hold_up_the_others() {
        let (broadcaster, began) = (Broadcaster::new(Client::default()), Instant::now());
        let silent = join_all((0..10 * AT_A_TIME).map(|_| broadcaster.in_turn(pending::<()>())));
        tokio::select! {
            _ = silent => unreachable!("they are silent"),
            () = async {
                tokio::task::yield_now().await;
                broadcaster.in_turn(ready(())).await;
            } => {}
        }
        assert!(began.elapsed() <= 11 * MOMENT, "{:?}", began.elapsed());
    }

    #[tokio::test]
    async fn a_match_waits_for_its_own_agents_and_for_no_others() {
        let player = |number| AgentId::Player(PlayerId::numbered(number));
        let mut barrier = DeliveryBarrier::default();
        let [first, second, silent] = [1, 2, 3].map(|number| {
            let (telling, told) = oneshot::channel();
            barrier.0.insert(player(number), told.shared());
            telling
        });
        let own = || barrier.wait_for([player(1), player(2), AgentId::Referee(RefereeId::numbered(1))]);
        assert!(own().now_or_never().is_none());
        drop(first);
        assert!(own().now_or_never().is_none(), "the second player has not been told");
        drop(second);
        assert!(own().now_or_never().is_some());
        assert!(barrier.wait_for([player(1), player(3)]).now_or_never().is_none());
        drop(silent);
        barrier.wait_for([player(1), player(3)]).await;
    }
}
