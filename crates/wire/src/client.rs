//! Calling an agent.
//!
//! The limit of a call covers all of it: the connection, the question, and the answer to its last byte. Redirects are not
//! followed and nothing is decompressed: an answer is what the peer itself said, in as many bytes as it sent.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::request::MAX_BODY;
use league_protocol::table::Call;
use league_protocol::time::Timestamp;
use rustls::ClientConfig;
use tokio::time::{Instant, timeout};
use tracing::Instrument;

use crate::call_tally::CallTally;
use crate::dial::Dialer;
use crate::endpoint::Endpoint;
use crate::exchange::{CallError, Exchange, Failure, Receipt};
use crate::net::{Connector, Tcp};
use crate::pool::{Pool, PoolError, PoolRequest};
use crate::runtime_lag::{Deadline, LagMonitor};
use crate::sse::{self, Events};
use crate::trace;

/// How long the end of a stream is waited for after its response.
const LINGER: Duration = Duration::from_millis(5);

pub type WallClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How a client is set up.
#[derive(Clone)]
pub struct ClientSettings {
    pub connector: Arc<dyn Connector>,
    /// TLS, see [`crate::tls::client_config`]; without it `https` endpoints cannot be reached.
    pub tls: Option<Arc<ClientConfig>>,
    /// Connections that are kept for each host. A round begins and ends with a call for each of its matches at once, between the manager and
    /// a few referees: a client that keeps fewer opens new ones for most of them.
    pub idle_per_host: usize,
    /// How long they are kept. Most Python servers close a connection after five seconds.
    pub idle_limit: Duration,
    pub clock: WallClock,
    /// Counts calls, where figures are wanted.
    pub tally: Option<Arc<CallTally>>,
    /// What tells whether the runtime of this client is starved; without it, lateness of our own counts against the peer.
    pub pulse: Option<LagMonitor>,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            connector: Arc::new(Tcp),
            tls: None,
            idle_per_host: 256,
            idle_limit: Duration::from_secs(4),
            clock: Arc::new(system_time),
            tally: None,
            pulse: None,
        }
    }
}

impl fmt::Debug for ClientSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ClientSettings");
        shown.field("tls", &self.tls.is_some()).field("idle_per_host", &self.idle_per_host);
        shown.field("idle_limit", &self.idle_limit).finish_non_exhaustive()
    }
}

fn system_time() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_unix_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Calls agents. Cheap to clone; the clones share their connections.
///
/// Its connections live in the runtime that it is used in: with one runtime per core, have one client per core.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    pool: Arc<Pool>,
    last_id: AtomicU64,
    clock: WallClock,
    tally: Option<Arc<CallTally>>,
    pulse: Option<LagMonitor>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

impl Default for Client {
    fn default() -> Self {
        Self::new(ClientSettings::default())
    }
}

impl Client {
    pub fn new(settings: ClientSettings) -> Self {
        let dialer = Dialer::new(settings.connector, settings.tls, settings.pulse.clone());
        let pool = Arc::new(Pool::new(dialer, settings.idle_per_host, settings.idle_limit));
        let ClientSettings { clock, tally, pulse, .. } = settings;
        Self { shared: Arc::new(Shared { pool, last_id: AtomicU64::new(0), clock, tally, pulse }) }
    }

    /// Says `call` to `endpoint` in the given manner, once, and waits for the whole answer. Who has to find out how a peer is
    /// spoken to goes through [`crate::peer_client::PeerClient`].
    ///
    /// Nothing is tried twice, with one exception: a kept connection that turns out to be dead before it has said a byte is
    /// replaced by a fresh one, once and within the same limit. The peer may then hear a message twice; messages of the
    /// league are idempotent by their own keys.
    pub async fn call(
        &self,
        endpoint: &Endpoint,
        manner: &PeerDialect,
        envelope: &Envelope,
        call: &Call,
        limit: Duration,
    ) -> Result<Exchange, CallError> {
        let mut body = Vec::with_capacity(1024);
        match manner.write(self.next_id(), envelope, call, &mut body) {
            Ok(()) => {
                let (sent, calling) = (body.len(), trace::calling(call.method()));
                let came = self.post(endpoint, &HeaderMap::new(), body.into(), limit).instrument(calling).await;
                self.note(call.method().row().name, sent, &came);
                came
            }
            Err(error) => Err(CallError { kind: Failure::Unwritable(error.to_string()), receipt: self.receipt(limit) }),
        }
    }

    /// Posts `body` as it is, with `extra` headers beside the usual ones.
    pub async fn post(
        &self,
        endpoint: &Endpoint,
        extra: &HeaderMap,
        body: Bytes,
        limit: Duration,
    ) -> Result<Exchange, CallError> {
        self.ask(endpoint, extra, body, None, &mut self.allow(limit)).await
    }

    /// A limit that begins now, for a peer of this client.
    pub fn allow(&self, limit: Duration) -> Deadline {
        Deadline::new(limit, self.shared.pulse.clone())
    }

    /// The same, with the id of the response that is waited for in a stream of events.
    pub(crate) async fn ask(
        &self,
        endpoint: &Endpoint,
        extra: &HeaderMap,
        body: Bytes,
        id: Option<u64>,
        time: &mut Deadline,
    ) -> Result<Exchange, CallError> {
        let mut receipt = self.receipt(time.allowed());
        let started = Instant::now();
        let (outcome, granted) = {
            let answer = pin!(async {
                let asking = self.shared.pool.ask(endpoint, || {
                    let mut request = request(endpoint, extra, body.clone());
                    trace::carry(request.headers_mut());
                    request
                });
                let (response, line) = asking.await.map_err(|error| unanswered(&error))?;
                receipt.first_byte = Some(started.elapsed());
                let (parts, body) = response.into_parts();
                let is_stream = sse::is_stream(&parts.headers);
                let body = if is_stream { read_events(body, id).await? } else { read(body, MAX_BODY).await? };
                line.give_back();
                Ok::<_, Failure>((parts.status, parts.headers, body))
            });
            time.within(answer).await
        };
        let outcome: Result<(StatusCode, HeaderMap, Bytes), Failure> = outcome.unwrap_or(Err(Failure::TimedOut));
        receipt.granted = granted;
        match outcome {
            Ok((status, headers, body)) => {
                receipt.last_byte = Some(started.elapsed());
                Ok(Exchange { status, headers, body, receipt })
            }
            Err(kind) => {
                receipt.given_up = Some(started.elapsed());
                Err(CallError { kind, receipt })
            }
        }
    }

    /// Posts to a server that is no agent and reads at most `max` bytes of its answer. The caller limits the time.
    pub async fn fetch(
        &self,
        endpoint: &Endpoint,
        headers: &HeaderMap,
        body: Bytes,
        max: usize,
    ) -> Result<(StatusCode, Bytes), Failure> {
        let asking = self.shared.pool.ask(endpoint, || request(endpoint, headers, body.clone()));
        let (response, connection) = asking.await.map_err(|error| unanswered(&error))?;
        let status = response.status();
        let body = read(response.into_body(), max).await?;
        connection.give_back();
        Ok((status, body))
    }

    pub(crate) fn note(&self, what: &'static str, sent: usize, came: &Result<Exchange, CallError>) {
        if let Some(tally) = &self.shared.tally {
            tally.note(what, sent, came);
        }
    }

    /// The next JSON-RPC id of this client.
    pub fn next_id(&self) -> u64 {
        self.shared.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn receipt(&self, limit: Duration) -> Receipt {
        Receipt {
            sent_at: (self.shared.clock)(),
            first_byte: None,
            last_byte: None,
            limit,
            granted: Duration::ZERO,
            given_up: None,
        }
    }
}

fn request(endpoint: &Endpoint, extra: &HeaderMap, body: Bytes) -> PoolRequest {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = endpoint.uri().path_and_query().cloned().map_or_else(Uri::default, Uri::from);
    let headers = request.headers_mut();
    // The text of a URI is always fit for a header.
    if let Ok(host) = HeaderValue::from_str(endpoint.authority()) {
        headers.insert(header::HOST, host);
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    headers.extend(extra.iter().map(|(name, value)| (name.clone(), value.clone())));
    request
}

/// Reads a body to its end, or to the first byte too many; what is not read then goes down with its connection.
async fn read(mut body: Incoming, max: usize) -> Result<Bytes, Failure> {
    if body.size_hint().lower() > max as u64 {
        return Err(Failure::TooLong);
    }
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Failure::HungUp(format!("the answer broke off: {}", chain(&error))))?;
        let Ok(data) = frame.into_data() else { continue };
        if whole.len() + data.len() > max {
            return Err(Failure::TooLong);
        }
        if whole.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

/// Reads a stream of events up to the response, which alone is the answer.
async fn read_events(mut body: Incoming, id: Option<u64>) -> Result<Bytes, Failure> {
    let (mut events, mut length) = (Events::until(id), 0);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Failure::HungUp(format!("the answer broke off: {}", chain(&error))))?;
        let Ok(data) = frame.into_data() else { continue };
        length += data.len();
        if length > MAX_BODY {
            return Err(Failure::TooLong);
        }
        if let Some(response) = events.take(&data) {
            // A stream that ends right here leaves its connection to the next call.
            drop(timeout(LINGER, body.frame()).await);
            return Ok(response);
        }
    }
    Ok(events.end())
}

/// Why there is no answer: no connection, or one that the peer closed.
fn unanswered(error: &PoolError) -> Failure {
    match error {
        PoolError::NoConnection(refused) if refused.kind() == std::io::ErrorKind::ConnectionRefused => {
            Failure::NotListening
        }
        PoolError::NoConnection(_) => Failure::Unreachable(chain(error)),
        PoolError::Broken(_) => Failure::HungUp(chain(error)),
    }
}

/// An error and its reasons in one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(reason) = next {
        text = format!("{text}: {reason}");
        next = reason.source();
    }
    text
}
