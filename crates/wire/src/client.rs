//! The HTTP client for agents. The limit of a call covers the connection, the request and the answer to its last byte. The client
//! follows no redirects, except from one of its managers to another, and decompresses nothing, so the answer is exactly what the peer sent and its size is bounded.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header, response};
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
use crate::environment;
use crate::exchange::{CallError, Exchange, Failure, Receipt};
use crate::manager_urls::ManagerUrls;
use crate::net::{Connector, Tcp};
use crate::pool::{Pool, PoolError, PoolRequest};
use crate::runtime_lag::{Deadline, LagMonitor};
use crate::sse::{self, Events};
use crate::trace;

/// How long the client waits for the end of a stream after the response.
const LINGER: Duration = Duration::from_millis(5);

pub type WallClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

#[derive(Clone)]
pub struct ClientSettings {
    pub connector: Arc<dyn Connector>,
    /// See [`crate::tls::client_config`]. Without it the client cannot reach `https` endpoints.
    pub tls: Option<Arc<ClientConfig>>,
    /// A round begins and ends with one call per match at once, between the manager and a few referees.
    /// With fewer idle connections most of these calls would open new ones.
    pub idle_per_host: usize,
    /// Most Python servers close a connection after five seconds.
    pub idle_limit: Duration,
    pub clock: WallClock,
    pub tally: Option<Arc<CallTally>>,
    /// Without a monitor, lag of our own runtime counts against the peer.
    pub lag_monitor: Option<LagMonitor>,
    /// The managers of one league. A call to any of them goes to the one that leads.
    pub managers: Vec<Endpoint>,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            connector: Arc::new(Tcp),
            tls: None,
            idle_per_host: 256,
            idle_limit: Duration::from_secs(4),
            clock: Arc::new(environment::clock),
            tally: None,
            lag_monitor: None,
            managers: Vec::new(),
        }
    }
}

impl fmt::Debug for ClientSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("ClientSettings");
        debug.field("tls", &self.tls.is_some()).field("idle_per_host", &self.idle_per_host);
        debug.field("idle_limit", &self.idle_limit).finish_non_exhaustive()
    }
}

/// Clones are cheap and share connections. Connections belong to the runtime that uses them, so each runtime needs its own client.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    pool: Arc<Pool>,
    last_id: AtomicU64,
    clock: WallClock,
    tally: Option<Arc<CallTally>>,
    lag_monitor: Option<LagMonitor>,
    managers: ManagerUrls,
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
        let dialer = Dialer::new(settings.connector, settings.tls, settings.lag_monitor.clone());
        let pool = Arc::new(Pool::new(dialer, settings.idle_per_host, settings.idle_limit));
        let ClientSettings { clock, tally, lag_monitor, managers, .. } = settings;
        let (last_id, managers) = (AtomicU64::new(0), ManagerUrls::new(managers));
        Self { shared: Arc::new(Shared { pool, last_id, clock, tally, lag_monitor, managers }) }
    }

    /// Sends `call` once in the given dialect and waits for the whole answer. [`crate::peer_client::PeerClient`] finds the dialect.
    ///
    /// The client never retries, with one exception: it replaces a pooled connection that died before it sent a byte, once and within
    /// the same limit. The peer may then receive a message twice, so every message is idempotent by its keys.
    pub async fn call(
        &self,
        endpoint: &Endpoint,
        dialect: &PeerDialect,
        envelope: &Envelope,
        call: &Call,
        limit: Duration,
    ) -> Result<Exchange, CallError> {
        let mut body = Vec::with_capacity(1024);
        match dialect.write(self.next_id(), envelope, call, &mut body) {
            Ok(()) => {
                let (sent, span) = (body.len(), trace::call_span(call.method()));
                let result = self.post(endpoint, &HeaderMap::new(), body.into(), limit).instrument(span).await;
                self.record(call.method().row().name, sent, &result);
                result
            }
            Err(error) => Err(CallError { kind: Failure::Unwritable(error.to_string()), receipt: self.receipt(limit) }),
        }
    }

    pub async fn post(
        &self,
        endpoint: &Endpoint,
        extra: &HeaderMap,
        body: Bytes,
        limit: Duration,
    ) -> Result<Exchange, CallError> {
        self.ask(endpoint, extra, body, None, &mut self.deadline(limit)).await
    }

    pub fn deadline(&self, limit: Duration) -> Deadline {
        Deadline::new(limit, self.shared.lag_monitor.clone())
    }

    /// `id` selects the response in a stream of events.
    pub(crate) async fn ask(
        &self,
        endpoint: &Endpoint,
        extra: &HeaderMap,
        body: Bytes,
        id: Option<u64>,
        time: &mut Deadline,
    ) -> Result<Exchange, CallError> {
        let managers = &self.shared.managers;
        if managers.has(endpoint) {
            // Boxed, to keep the future of every other call small.
            return Box::pin(managers.ask(self, extra, &body, id, time)).await;
        }
        self.ask_one(endpoint, extra, body, id, time).await
    }

    pub(crate) async fn ask_one(
        &self,
        endpoint: &Endpoint,
        extra: &HeaderMap,
        body: Bytes,
        id: Option<u64>,
        time: &mut Deadline,
    ) -> Result<Exchange, CallError> {
        let started = Instant::now();
        let mut receipt = self.receipt(time.start());
        let (outcome, granted) = {
            let answer = pin!(async {
                let asking = self.shared.pool.ask(endpoint, || {
                    let mut request = request(endpoint, extra, body.clone());
                    trace::inject(request.headers_mut());
                    request
                });
                let (response, connection) = asking.await.map_err(|error| failure_of(&error))?;
                receipt.first_byte = Some(started.elapsed());
                let (parts, body) = response.into_parts();
                let is_stream = sse::is_stream(&parts.headers);
                let body = if is_stream { read_events(body, id).await? } else { read(body, MAX_BODY).await? };
                connection.give_back();
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

    /// Posts to a server that is not an agent and reads at most `max` bytes of its answer. The caller limits the time.
    pub async fn fetch(
        &self,
        endpoint: &Endpoint,
        headers: &HeaderMap,
        body: Bytes,
        max: usize,
    ) -> Result<(StatusCode, Bytes), Failure> {
        let asking = self.shared.pool.ask(endpoint, || request(endpoint, headers, body.clone()));
        let (response, connection) = asking.await.map_err(|error| failure_of(&error))?;
        let status = response.status();
        let body = read(response.into_body(), max).await?;
        connection.give_back();
        Ok((status, body))
    }

    /// Posts with the headers of another client, and returns the answer as it came. The caller limits the time.
    pub(crate) async fn forward(
        &self,
        endpoint: &Endpoint,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<(response::Parts, Bytes), Failure> {
        let asking = self.shared.pool.ask(endpoint, || {
            let mut request = request(endpoint, &HeaderMap::new(), body.clone());
            let own = request.headers_mut();
            headers.keys().for_each(|name| drop(own.remove(name)));
            own.extend(headers.iter().map(|(name, value)| (name.clone(), value.clone())));
            request
        });
        let (response, connection) = asking.await.map_err(|error| failure_of(&error))?;
        let (parts, body) = response.into_parts();
        let body = read(body, MAX_BODY).await?;
        connection.give_back();
        Ok((parts, body))
    }

    pub(crate) fn record(&self, name: &'static str, sent: usize, result: &Result<Exchange, CallError>) {
        if let Some(tally) = &self.shared.tally {
            tally.record(name, sent, result);
        }
    }

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
    // An authority is always a valid header value.
    if let Ok(host) = HeaderValue::from_str(endpoint.authority()) {
        headers.insert(header::HOST, host);
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    headers.extend(extra.iter().map(|(name, value)| (name.clone(), value.clone())));
    request
}

/// Fails at the first byte beyond `max`. The unread rest ends with its connection.
async fn read(mut body: Incoming, max: usize) -> Result<Bytes, Failure> {
    if body.size_hint().lower() > max as u64 {
        return Err(Failure::TooLong);
    }
    let mut whole = BytesMut::new();
    while let Some(data) = next_data(&mut body).await? {
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

async fn next_data(body: &mut Incoming) -> Result<Option<Bytes>, Failure> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Failure::HungUp(format!("the answer broke off: {}", chain(&error))))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

async fn read_events(mut body: Incoming, id: Option<u64>) -> Result<Bytes, Failure> {
    let (mut events, mut length) = (Events::until(id), 0);
    while let Some(data) = next_data(&mut body).await? {
        length += data.len();
        if length > MAX_BODY {
            return Err(Failure::TooLong);
        }
        if let Some(response) = events.take(&data) {
            // If the stream ends here, the connection can be reused.
            drop(timeout(LINGER, body.frame()).await);
            return Ok(response);
        }
    }
    Ok(events.end())
}

fn failure_of(error: &PoolError) -> Failure {
    match error {
        PoolError::NoConnection(refused) if refused.kind() == std::io::ErrorKind::ConnectionRefused => {
            Failure::NotListening
        }
        PoolError::NoConnection(_) => Failure::Unreachable(chain(error)),
        PoolError::Broken(_) => Failure::HungUp(chain(error)),
    }
}

fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(reason) = next {
        text = format!("{text}: {reason}");
        next = reason.source();
    }
    text
}
