//! The open connections of a server, and which one it closes to make room for another.
//!
//! A connection costs an attacker nothing, so age gives no priority. The server first closes connections that never sent a
//! request, then those whose request does not arrive, then idle ones; of each kind the oldest. A request has [`GRACE`] to arrive,
//! because a busy machine needs it. A connection whose request is being answered is never closed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::{AbortHandle, Id};
use tokio::time::{Instant, timeout_at};

use crate::client_network::ClientNetwork;

/// How long a request may take to arrive while other connections wait.
const GRACE: Duration = Duration::from_millis(250);

/// The server closes connections in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Activity {
    New,
    /// The head of a request has arrived, its body has not.
    Reading,
    Idle,
    Answering,
}

#[derive(Debug)]
pub(crate) struct ConnectionState {
    state: Mutex<(Activity, Instant)>,
    close: Notify,
    freed: Arc<Notify>,
}

impl ConnectionState {
    pub(crate) fn set(&self, activity: Activity) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = (activity, Instant::now());
        if activity == Activity::Idle {
            self.freed.notify_one();
        }
    }

    pub(crate) fn state(&self) -> (Activity, Instant) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn closing(&self) {
        self.close.notified().await;
    }
}

struct ConnectionEntry {
    network: ClientNetwork,
    connection: Arc<ConnectionState>,
    task: AbortHandle,
    closing: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AdmissionResult {
    Free,
    /// Only after the server closes this one.
    After(Id),
    /// Not before a connection becomes idle or ends, or this time passes.
    Full(Option<Instant>),
}

pub(crate) struct Connections {
    open: HashMap<Id, ConnectionEntry>,
    freed: Arc<Notify>,
    max: usize,
    max_from_one_address: usize,
}

impl Connections {
    pub(crate) fn new(max: usize, max_from_one_address: usize) -> Self {
        Self { open: HashMap::new(), freed: Arc::default(), max, max_from_one_address }
    }

    pub(crate) fn accepted(&self) -> Arc<ConnectionState> {
        let state = Mutex::new((Activity::New, Instant::now()));
        Arc::new(ConnectionState { state, close: Notify::new(), freed: Arc::clone(&self.freed) })
    }

    pub(crate) fn insert(&mut self, network: ClientNetwork, connection: Arc<ConnectionState>, task: AbortHandle) {
        self.open.insert(task.id(), ConnectionEntry { network, connection, task, closing: false });
    }

    pub(crate) fn remove(&mut self, id: Id) {
        self.open.remove(&id);
    }

    pub(crate) fn room(&self) -> AdmissionResult {
        // Closing connections still hold descriptors, so their number is limited too.
        if self.open.len() >= 2 * self.max {
            return AdmissionResult::Full(None);
        }
        self.room_among(self.max, |_| true)
    }

    pub(crate) fn room_for(&self, network: ClientNetwork) -> AdmissionResult {
        let own = |open: &ConnectionEntry| open.network == network;
        let limited = self.room_among(self.max_from_one_address, own);
        if network.is_loopback() || limited == AdmissionResult::Free { self.room() } else { limited }
    }

    fn room_among(&self, max: usize, among: impl Fn(&ConnectionEntry) -> bool) -> AdmissionResult {
        let open = || self.open.iter().filter(|(_, open)| !open.closing && among(open));
        if open().count() < max {
            return AdmissionResult::Free;
        }
        let closable = |open: &ConnectionEntry| match open.connection.state() {
            (Activity::New | Activity::Reading, since) => Some(since + GRACE),
            (Activity::Idle, since) => Some(since),
            (Activity::Answering, _) => None,
        };
        let now = Instant::now();
        let now_closable = open().filter(|(_, open)| closable(open).is_some_and(|at| at <= now));
        let first = now_closable.min_by_key(|(_, open)| open.connection.state());
        first.map_or_else(
            || AdmissionResult::Full(open().filter_map(|(_, open)| closable(open)).min()),
            |(id, _)| AdmissionResult::After(*id),
        )
    }

    pub(crate) async fn freed(&self, until: Option<Instant>) {
        match until {
            Some(until) => drop(timeout_at(until, self.freed.notified()).await),
            None => self.freed.notified().await,
        }
    }

    pub(crate) fn close(&mut self, id: Id) {
        if let Some(open) = self.open.get_mut(&id) {
            open.closing = true;
            match open.connection.state().0 {
                Activity::New | Activity::Reading => open.task.abort(),
                // The last bytes of an answer may still be in transit.
                Activity::Idle | Activity::Answering => open.connection.close.notify_one(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinSet;

    use super::*;

    fn insert(connections: &mut Connections, tasks: &mut JoinSet<()>, from: &str, activity: Activity) -> Id {
        let (connection, task) = (connections.accepted(), tasks.spawn(std::future::pending()));
        connection.set(activity);
        let id = task.id();
        connections.insert(ClientNetwork::of(from.parse().unwrap()), connection, task);
        id
    }

    const LOOPBACK: &str = "127.0.0.1:1";
    const REMOTE: &str = "203.0.113.9:1";

    #[tokio::test(start_paused = true)]
    async fn connections_without_a_request_close_first_and_those_being_answered_never() {
        let (mut connections, mut tasks) = (Connections::new(5, 100), JoinSet::new());
        let mut open_connection = async |activity| {
            tokio::time::advance(Duration::from_millis(10)).await;
            insert(&mut connections, &mut tasks, LOOPBACK, activity)
        };
        let idle = open_connection(Activity::Idle).await;
        let reading = open_connection(Activity::Reading).await;
        let new = open_connection(Activity::New).await;
        let newer = open_connection(Activity::New).await;
        open_connection(Activity::Answering).await;
        assert_eq!(connections.room(), AdmissionResult::After(idle), "the others still have their grace");
        tokio::time::advance(GRACE).await;
        for first in [new, newer, reading, idle] {
            assert_eq!(connections.room(), AdmissionResult::After(first));
            connections.close(first);
            assert_eq!(connections.room(), AdmissionResult::Free);
            insert(&mut connections, &mut tasks, LOOPBACK, Activity::Answering);
        }
        assert_eq!(connections.room(), AdmissionResult::Full(None), "all are being answered");
        connections.remove(new);
        assert_eq!(connections.room(), AdmissionResult::Full(None), "a connection that closes has already made room");
    }

    #[tokio::test]
    async fn an_address_has_a_limited_number_of_connections_unless_it_is_loopback() {
        let (mut connections, mut tasks) = (Connections::new(100, 2), JoinSet::new());
        let [here, remote] = [LOOPBACK, REMOTE].map(|address| ClientNetwork::of(address.parse().unwrap()));
        for _ in 0..10 {
            assert_eq!(connections.room_for(here), AdmissionResult::Free);
            insert(&mut connections, &mut tasks, LOOPBACK, Activity::Answering);
        }
        let first = insert(&mut connections, &mut tasks, REMOTE, Activity::Idle);
        insert(&mut connections, &mut tasks, REMOTE, Activity::Answering);
        assert_eq!(connections.room_for(remote), AdmissionResult::After(first));
        connections.close(first);
        assert_eq!(connections.room_for(remote), AdmissionResult::Free);
        insert(&mut connections, &mut tasks, REMOTE, Activity::Answering);
        assert_eq!(
            (connections.room_for(remote), connections.room_for(here)),
            (AdmissionResult::Full(None), AdmissionResult::Free)
        );
    }
}
