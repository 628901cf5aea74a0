//! The managers of one league, as the operator named them to an agent: one leads, and the others are standbys.
//!
//! The agent knows its manager by the first URL. The client sends each call to the manager that led last. It tries the next one
//! if that does not answer, and follows a standby to the leader only if the operator named the leader's URL, too. A manager may get
//! a call twice, so every call is idempotent by its keys.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use tokio::time::{sleep, timeout};

use crate::client::Client;
use crate::endpoint::Endpoint;
use crate::exchange::{CallError, Exchange, Failure};
use crate::runtime_lag::Deadline;

/// Sent to managers by a client that knows several: a standby then answers with the URL of the leader. It forwards the calls of
/// other clients.
pub const MANAGERS: HeaderName = HeaderName::from_static("league-managers");

/// After this time without an answer another manager is asked, too: the first one may be frozen or cut off.
const DOUBT: Duration = Duration::from_secs(1);
/// After every manager was tried once. A takeover takes some seconds.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub(crate) struct ManagerUrls {
    /// Empty if there is one manager only.
    urls: Vec<Endpoint>,
    /// The one that led last.
    leader: AtomicUsize,
    /// Standbys are asked often, so the log tells once that one of them names an unknown manager.
    is_unknown_logged: AtomicBool,
}

impl ManagerUrls {
    pub(crate) fn new(urls: Vec<Endpoint>) -> Self {
        Self { urls: if urls.len() > 1 { urls } else { Vec::new() }, ..Self::default() }
    }

    pub(crate) fn has(&self, endpoint: &Endpoint) -> bool {
        self.place_of(endpoint).is_some()
    }

    fn place_of(&self, endpoint: &Endpoint) -> Option<usize> {
        self.urls.iter().position(|url| url == endpoint)
    }

    /// Sends to one manager after the other until one leads or the time is over.
    pub(crate) async fn ask(
        &self,
        client: &Client,
        extra: &HeaderMap,
        body: &Bytes,
        id: Option<u64>,
        time: &mut Deadline,
    ) -> Result<Exchange, CallError> {
        let mut headers = extra.clone();
        headers.insert(MANAGERS, HeaderValue::from(self.urls.len()));
        let call = PreparedCall { client, headers: &headers, body, id };
        // Since the last pause.
        let mut failed = Vec::new();
        loop {
            let led = self.leader.load(Ordering::Relaxed) % self.urls.len();
            let (place, asked) = self.ask_at(led, call, time.left()).await;
            let next = match &asked {
                // A standby that is cut off from the store may name a leader that is gone.
                Ok(exchange) if is_standby(exchange) => {
                    self.named_in(&exchange.headers).filter(|named| !failed.contains(named)).unwrap_or(place + 1)
                }
                Ok(_) => {
                    self.leader.store(place, Ordering::Relaxed);
                    return asked;
                }
                Err(error) if error.is_transient() => place + 1,
                Err(_) => return asked,
            };
            failed.push(place);
            // Another call may have found the leader meanwhile.
            let _ = self.leader.compare_exchange(led, next % self.urls.len(), Ordering::Relaxed, Ordering::Relaxed);
            let pause = if failed.len() < self.urls.len() { Duration::ZERO } else { PAUSE };
            if time.left() <= pause {
                return Err(match asked {
                    Ok(standby) => no_leader(&standby),
                    Err(error) => error,
                });
            }
            if !pause.is_zero() {
                failed.clear();
                sleep(pause).await;
            }
        }
    }

    /// Sends to the manager at `led`. If that takes long, asks the others in turn, and returns the answer of one that knows another
    /// leader. The first call goes on meanwhile: a manager may be slow because it has much to do.
    async fn ask_at(
        &self,
        led: usize,
        call: PreparedCall<'_>,
        limit: Duration,
    ) -> (usize, Result<Exchange, CallError>) {
        let mut time = call.client.deadline(limit);
        let mut asking = pin!(call.send(&self.urls[led], &mut time));
        let mut others = (1..self.urls.len()).map(|step| (led + step) % self.urls.len()).cycle();
        loop {
            if let Ok(asked) = timeout(DOUBT, &mut asking).await {
                return (led, asked);
            }
            let Some(other) = others.next() else { return (led, asking.await) };
            let mut time = call.client.deadline(DOUBT);
            let answer = tokio::select! {
                biased;
                asked = &mut asking => return (led, asked),
                answer = call.send(&self.urls[other], &mut time) => answer,
            };
            if let Ok(exchange) = answer
                && (!is_standby(&exchange) || self.named_in(&exchange.headers).is_some_and(|named| named != led))
            {
                return (other, Ok(exchange));
            }
        }
    }

    /// The leader that a standby names, if the operator named it, too.
    fn named_in(&self, headers: &HeaderMap) -> Option<usize> {
        let named: Endpoint = headers.get(header::LOCATION)?.to_str().ok()?.parse().ok()?;
        let place = self.place_of(&named);
        if place.is_none() && !self.is_unknown_logged.swap(true, Ordering::Relaxed) {
            tracing::warn!(%named, "a standby names a manager that is not among those of --manager; it is not followed");
        }
        place
    }
}

/// A call that can go to any of the managers.
#[derive(Clone, Copy)]
struct PreparedCall<'a> {
    client: &'a Client,
    headers: &'a HeaderMap,
    body: &'a Bytes,
    id: Option<u64>,
}

impl PreparedCall<'_> {
    async fn send(&self, manager: &Endpoint, time: &mut Deadline) -> Result<Exchange, CallError> {
        self.client.ask_one(manager, self.headers, self.body.clone(), self.id, time).await
    }
}

/// The answer of a standby says nothing about the call.
fn no_leader(standby: &Exchange) -> CallError {
    let why = String::from("the managers that answer are standbys, and no manager leads the league now");
    CallError { kind: Failure::Unreachable(why), receipt: standby.receipt }
}

/// It names the leader, or knows of none.
fn is_standby(exchange: &Exchange) -> bool {
    matches!(exchange.status, StatusCode::TEMPORARY_REDIRECT | StatusCode::SERVICE_UNAVAILABLE)
}
