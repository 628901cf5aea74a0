//! Who tells the players, and from where.
//!
//! A manager speaks for itself, except in a process in which players live, too: on other threads than its own. There every notice would wake a player's thread
//! up, every answer the manager's, and while they take turns nothing runs side by side. So a herald on each of those threads, with
//! the connections of that thread, speaks to those who live there.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use league_core::season::CommandOutcome;
use league_core::season::agent::AgentId;
use league_protocol::message::report::LearnedDialect;
use league_protocol::quirk::Quirk;
use league_protocol::table::Method;
use league_store::journal::JournalLevel;
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::exchange::Failure;
use league_wire::peer_client::{OutgoingCall, Peer, PeerClient, SendAttempt, SendOutcome, heard};
use smol_str::SmolStr;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tracing::Instrument;

use crate::excerpt::Told;
use crate::hearing::{Heard, Hearing};
use crate::manager::Shared;
use crate::notices::{Listener, Notice, envelope};
use crate::turns::Turns;

/// How often somebody who does not listen yet is tried.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// Speaks to some of those who are to be told something.
#[derive(Debug)]
pub(crate) struct Herald {
    pub(crate) speaker: PeerClient,
    turns: Turns,
}

impl Herald {
    /// One that speaks through `client`.
    pub(crate) fn new(client: Client) -> Self {
        Self { speaker: PeerClient::new(client), turns: Turns::default() }
    }
}

/// Those on other threads than the manager's, and to whom each of them speaks. Nobody, usually: then the manager does it all.
#[derive(Clone, Debug, Default)]
pub struct Heralds {
    heralds: Vec<(Handle, Arc<Herald>)>,
    to: HashMap<SmolStr, usize>,
}

impl Heralds {
    /// One more, on the runtime behind `handle` and through the client of that runtime. It speaks to whoever listens at `endpoints`.
    pub fn add(&mut self, handle: Handle, client: Client, endpoints: impl IntoIterator<Item = Endpoint>) {
        let number = self.heralds.len();
        self.heralds.push((handle, Arc::new(Herald::new(client))));
        self.to.extend(endpoints.into_iter().map(|endpoint| (endpoint.site().clone(), number)));
    }
}

/// Those to whom one of them speaks.
type Audience = Vec<(Listener, Endpoint, Heard)>;

impl Shared {
    /// Tells each listener what it is told of all that is `told`, in order; different listeners at the same time. Who does not listen yet is
    /// waited for, as long as `grace` lasts.
    pub(crate) async fn tell(self: &Arc<Self>, listeners: Vec<Listener>, told: Vec<Told>, grace: Duration) {
        self.tell_each(Listener::noted(listeners, &mut Hearing::default()), told, grace).await;
    }

    /// The same; each is also noted once it has heard everything. They take turns, and hear everything in one: a match can begin as soon as its own
    /// people have had theirs, and is played while others have theirs.
    pub(crate) async fn tell_each(
        self: &Arc<Self>,
        listeners: Vec<(Listener, Heard)>,
        told: Vec<Told>,
        grace: Duration,
    ) {
        let Heralds { heralds, to } = &self.settings.heralds;
        let (told, mut own) = (Arc::<[Told]>::from(told), Audience::new());
        let mut audiences: Vec<Audience> = heralds.iter().map(|_| Audience::new()).collect();
        for (listener, heard) in listeners {
            // Nobody is at what is no endpoint.
            let Ok(endpoint) = listener.endpoint.parse::<Endpoint>() else { continue };
            let audience = to.get(endpoint.site()).map_or(&mut own, |number| &mut audiences[*number]);
            audience.push((listener, endpoint, heard));
        }
        // Whoever drops this has them all stop.
        let mut elsewhere = JoinSet::new();
        for ((handle, herald), audience) in heralds.iter().zip(audiences).filter(|(_, audience)| !audience.is_empty()) {
            let (shared, herald, told) = (Arc::clone(self), Arc::clone(herald), Arc::clone(&told));
            let telling = async move { shared.tell_by(&herald, audience, &told, grace).await };
            elsewhere.spawn_on(telling.in_current_span(), handle);
        }
        self.tell_by(&self.herald, own, &told, grace).await;
        while let Some(told) = elsewhere.join_next().await {
            if let Err(error) = told {
                tracing::error!(%error, "some players were not told");
            }
        }
        self.note_told(&told);
    }

    async fn tell_by(&self, herald: &Herald, audience: Audience, told: &[Told], grace: Duration) {
        let telling = audience.into_iter().map(async |(listener, endpoint, heard)| {
            herald.turns.take(pin!(self.tell_one(herald, listener, &endpoint, told, grace))).await;
            drop(heard);
        });
        telling.collect::<FuturesUnordered<_>>().collect::<()>().await;
    }

    async fn tell_one(
        &self,
        herald: &Herald,
        mut listener: Listener,
        endpoint: &Endpoint,
        told: &[Told],
        grace: Duration,
    ) {
        let (patient_until, mut found, mut was_there) = (Instant::now() + grace, LearnedDialect::default(), false);
        for told in told {
            let notice = told.to(&listener.id);
            let method = notice.call.method();
            let mut waited = false;
            let (said, tries) = loop {
                let telling = self.tell_once(herald, &listener, endpoint, &notice, grace.is_zero());
                let (said, tries) = telling.await;
                if Instant::now() >= patient_until || !is_unreachable(&tries) {
                    break (said, tries);
                }
                if !std::mem::replace(&mut waited, true) {
                    self.log(JournalLevel::Info, "AGENT_NOT_LISTENING", || {
                        format!("{} does not listen yet; it is tried again for {grace:?}", listener.id.as_str())
                    });
                }
                sleep(BETWEEN_LOOKS).await;
            };
            let failed = tries.last().and_then(|last| last.came.as_ref().err());
            if let Some(error) = failed {
                tracing::debug!(who = listener.id.as_str(), what = method.row().name, %error, "a notice was not heard");
            }
            self.note_sent(&listener.id, &notice.conversation, &tries, said.understood);
            self.count_answer(told, &tries, said.understood);
            found.quirks = found.quirks.and(said.quirks);
            if waited && failed.is_none() {
                found.quirks.note(Quirk::ListensLate);
            }
            // Who was there a moment ago and hangs up on this has taken it for its cue.
            if was_there && method == Method::NotifyLeagueCompleted && is_unreachable(&tries) {
                found.quirks.note(Quirk::LeavesAtTheEnd);
            }
            was_there |= failed.is_none() && !tries.is_empty();
            if let Some(learned) = said.learned {
                listener.manner = learned.clone();
                found.manner = Some(learned);
            }
        }
        self.learn(listener.id, found).await;
    }

    async fn tell_once(
        &self,
        herald: &Herald,
        listener: &Listener,
        endpoint: &Endpoint,
        notice: &Notice,
        guarded: bool,
    ) -> (SendOutcome, Vec<SendAttempt>) {
        let envelope = envelope(notice.conversation.clone(), self.world.now(), Some(listener.pass.clone()));
        let (call, body, limit) = (&notice.call, notice.body.as_deref(), self.settings.patience);
        let message = OutgoingCall { envelope: &envelope, call, body, limit, notice: true };
        let peer = Peer { endpoint, manner: &listener.manner, proven: false };
        let mut tries = Vec::new();
        // Somebody who is waited for fails many times, which says nothing about later.
        let breakers = guarded.then_some(&self.breakers);
        let said = herald.speaker.say_guarded(breakers, peer, message, &heard, &mut tries).await;
        (said, tries)
    }

    /// Keeps what was found out about an agent, where it is news.
    pub(crate) async fn learn(&self, agent: AgentId, found: LearnedDialect) {
        if found.is_nothing() {
            return;
        }
        let noted = self.desk.command(move |season, now| {
            let events = season.learn(&agent, &found, now).into_iter().collect();
            Ok(CommandOutcome { events, reply: () })
        });
        if let Err(fault) = noted.await {
            tracing::debug!(fault = fault.message, "what was found out about an agent could not be kept");
        }
    }
}

fn is_unreachable(tries: &[SendAttempt]) -> bool {
    let failure = tries.last().and_then(|last| last.came.as_ref().err()).map(|error| &error.kind);
    matches!(failure, Some(Failure::NotListening | Failure::Unreachable(_) | Failure::HungUp(_)))
}
