//! Calls a peer in the dialect that it understands, and finds that dialect if it is unknown.
//!
//! All tries of one message share its limit, so learning never extends a deadline. The caller decides whether it understands an
//! answer; [`league_protocol::dialect_fallback`] chooses the next form. A timeout or a broken connection ends the sending, because
//! another form would not help.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use league_protocol::answer::{ParsedAnswer, has_no_error};
use league_protocol::dialect::{McpStyle, PeerDialect};
use league_protocol::dialect_error::{DialectError, NonJsonKind};
use league_protocol::dialect_fallback::{DialectAttempt, NextTry};
use league_protocol::envelope::Envelope;
use league_protocol::error::ErrorCode;
use league_protocol::frame::Frame;
use league_protocol::quirk::{Quirk, Quirks};
use league_protocol::request::MAX_BODY;
use league_protocol::table::{Call, Method};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep};
use tracing::Instrument;

use crate::breaker::Breakers;
use crate::client::Client;
use crate::dispatch::MAX_BATCH;
use crate::endpoint::Endpoint;
use crate::exchange::{CallError, Exchange, Failure};
use crate::probe::{self, Probe};
use crate::runtime_lag::Deadline;
use crate::session::Sessions;
use crate::sse;
use crate::trace;

const MAX_FORMS: usize = 5;

const MAX_THOROUGH: usize = 20;

/// The first pause when a peer limits the rate; it doubles.
const BACK_OFF: Duration = Duration::from_millis(100);

/// Characters quoted from a peer's message.
const QUOTED: usize = 200;

/// Clones are cheap and share connections and sessions.
#[derive(Clone, Debug, Default)]
pub struct PeerClient {
    client: Client,
    sessions: Arc<Sessions>,
}

#[derive(Clone, Copy, Debug)]
pub struct Peer<'a> {
    pub endpoint: &'a Endpoint,
    pub dialect: &'a PeerDialect,
    /// The peer has given a proper answer in this dialect.
    pub proven: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct OutgoingCall<'a> {
    pub envelope: &'a Envelope,
    pub call: &'a Call,
    /// Set if the body is already serialized because it goes to many peers.
    pub body: Option<&'a [u8]>,
    /// For all tries together.
    pub limit: Duration,
    /// A notice is tried under one other name at most. A peer that knows neither gets no further notices of this kind.
    pub notice: bool,
}

impl OutgoingCall<'_> {
    fn write(&self, dialect: &PeerDialect, id: u64, out: &mut Vec<u8>) -> serde_json::Result<()> {
        match self.body {
            Some(body) => dialect.write_prepared(id, self.envelope, (self.call.method(), body), out),
            None => dialect.write(id, self.envelope, self.call, out),
        }
    }
}

pub fn is_acknowledged(exchange: &Exchange) -> bool {
    exchange.status.is_success() && has_no_error(&exchange.body)
}

#[derive(Clone, Debug)]
pub struct SendAttempt {
    /// The message's name or the MCP method.
    pub name: &'static str,
    /// True for an MCP question about the peer; false for a message of the league.
    pub is_probe: bool,
    pub sent: Bytes,
    pub result: Result<Exchange, CallError>,
}

impl SendAttempt {
    pub fn outcome(&self) -> Result<String, String> {
        let exchange = self.result.as_ref().map_err(ToString::to_string)?;
        let answered = format!("answered in {} ms", exchange.receipt.last_byte.unwrap_or_default().as_millis());
        if is_acknowledged(exchange) {
            return Ok(answered);
        }
        let error = ParsedAnswer::parse(&exchange.body).ok().and_then(|layers| layers.error());
        let words = error.map_or_else(
            || String::from("no answer that can be read"),
            |error| error.words.chars().take(QUOTED).collect::<String>(),
        );
        Err(format!("{answered} with status {}: {words}", exchange.status.as_u16()))
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SendOutcome {
    pub understood: bool,
    /// Set if the peer's dialect differs from the expected one.
    pub learned: Option<PeerDialect>,
    pub quirks: Quirks,
}

impl PeerClient {
    pub fn new(client: Client) -> Self {
        Self { client, sessions: Arc::default() }
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The session's headers and those that repeat the call's name.
    pub fn headers_of(&self, endpoint: &Endpoint, dialect: &PeerDialect, method: Method) -> HeaderMap {
        if dialect.frame() != Frame::Tool {
            return HeaderMap::new();
        }
        self.headers(endpoint, dialect.era(), "tools/call", Some(dialect.name_of(method)))
    }

    /// Opens an MCP session and returns the headers for its requests; `None` if there is no MCP server at `endpoint`.
    pub async fn open_session(&self, endpoint: &Endpoint, limit: Duration) -> Option<HeaderMap> {
        let (mut time, mut attempts) = (self.client.deadline(limit), Vec::new());
        Probe { client: self, endpoint, time: &mut time, attempts: &mut attempts }.handshake().await?;
        Some(self.headers(endpoint, McpStyle::Session, "tools/list", None))
    }

    pub(crate) fn headers(
        &self,
        endpoint: &Endpoint,
        style: McpStyle,
        method: &'static str,
        name: Option<&str>,
    ) -> HeaderMap {
        let session = if style == McpStyle::Session { self.sessions.of(endpoint) } else { None };
        probe::headers(style, session, method, name)
    }

    /// Like [`PeerClient::send`], but sends nothing while the endpoint's circuit is open. For notices only: a match counts its own
    /// tries, and a failure in another match must not count in this one.
    pub async fn send_guarded(
        &self,
        breakers: Option<&Breakers>,
        peer: Peer<'_>,
        message: OutgoingCall<'_>,
        understood: impl Fn(&Exchange) -> bool,
        attempts: &mut Vec<SendAttempt>,
    ) -> SendOutcome {
        if breakers.is_some_and(|breakers| !breakers.admit(peer.endpoint, Instant::now())) {
            let refused = CallError { kind: Failure::Refused, receipt: self.client.receipt(message.limit) };
            let (name, sent) = (name_of(message.call), Bytes::new());
            attempts.push(SendAttempt { name, is_probe: false, sent, result: Err(refused) });
            return SendOutcome::default();
        }
        let outcome = self.send(peer, message, understood, attempts).await;
        if let (Some(breakers), Some(last)) = (breakers, attempts.last()) {
            let failed = last.result.as_ref().is_err_and(CallError::is_transient);
            breakers.note(peer.endpoint, failed, Instant::now());
        }
        outcome
    }

    /// Sends `message` form by form until `understood` accepts an answer. Every request enters `attempts` as soon as its answer is
    /// there, so a caller that drops this future still knows what was sent.
    pub async fn send(
        &self,
        peer: Peer<'_>,
        message: OutgoingCall<'_>,
        understood: impl Fn(&Exchange) -> bool,
        attempts: &mut Vec<SendAttempt>,
    ) -> SendOutcome {
        self.sending(peer, message, attempts).until(understood).await
    }

    /// Like [`PeerClient::send`], but tries every form: for a peer whose dialect is unknown. Stops early if the peer is unreachable,
    /// too slow, or refuses with a league error.
    pub async fn search(
        &self,
        peer: Peer<'_>,
        message: OutgoingCall<'_>,
        understood: impl Fn(&Exchange) -> bool,
        attempts: &mut Vec<SendAttempt>,
    ) -> SendOutcome {
        Sending { thorough: true, ..self.sending(peer, message, attempts) }.until(understood).await
    }

    /// The caller reads each answer and calls [`Sending::next`] again if it does not understand it.
    pub fn sending<'a>(
        &'a self,
        peer: Peer<'a>,
        message: OutgoingCall<'a>,
        attempts: &'a mut Vec<SendAttempt>,
    ) -> Sending<'a> {
        Sending {
            client: self,
            peer,
            message,
            attempts,
            time: self.client.deadline(message.limit),
            dialect: peer.dialect.clone(),
            tried: Vec::new(),
            probed: None,
            quirks: Quirks::default(),
            thorough: false,
            answered: false,
            pause: BACK_OFF,
            reopened: false,
            acknowledged: false,
        }
    }

    /// Sends notices in the canonical form as one JSON-RPC batch, within the limit of the first. Returns one attempt per notice, or
    /// nothing unless the peer answers each of them.
    pub async fn send_batch(
        &self,
        endpoint: &Endpoint,
        calls: &[OutgoingCall<'_>],
    ) -> Result<Option<Vec<SendAttempt>>, CallError> {
        let limit = calls.first().map_or(Duration::ZERO, |call| call.limit);
        let unwritable = |why| CallError { kind: Failure::Unwritable(why), receipt: self.client.receipt(limit) };
        let (canonical, mut body, mut parts) = (PeerDialect::default(), Vec::new(), Vec::with_capacity(calls.len()));
        for call in calls {
            body.push(if body.is_empty() { b'[' } else { b',' });
            let (id, start) = (self.client.next_id(), body.len());
            call.write(&canonical, id, &mut body).map_err(|error| unwritable(error.to_string()))?;
            parts.push((id, start..body.len()));
        }
        body.push(b']');
        if calls.len() > MAX_BATCH || body.len() > MAX_BODY {
            return Err(unwritable(format!("a batch of {} requests with {} bytes", calls.len(), body.len())));
        }
        let sent = Bytes::from(body);
        let spans: Vec<_> = calls.iter().map(|call| trace::call_span(call.call.method())).collect();
        let mut time = self.client.deadline(limit);
        let result = self.client.ask(endpoint, &HeaderMap::new(), sent.clone(), None, &mut time).await?;
        drop(spans);
        let answers = answers_by_id(&result.body);
        let attempts = calls.iter().zip(parts).map(|(call, (id, part))| {
            let body = result.body.slice_ref(answers.get(&id)?.get().as_bytes());
            let answer = Exchange { status: result.status, headers: HeaderMap::new(), body, receipt: result.receipt };
            let (name, sent) = (name_of(call.call), sent.slice(part));
            let attempt = SendAttempt { name, is_probe: false, sent, result: Ok(answer) };
            self.client.record(attempt.name, attempt.sent.len(), &attempt.result);
            Some(attempt)
        });
        Ok(attempts.collect())
    }
}

fn answers_by_id(body: &[u8]) -> HashMap<u64, &RawValue> {
    #[derive(Deserialize)]
    struct Answer {
        id: u64,
    }
    let parts: Vec<&RawValue> = serde_json::from_slice(body).unwrap_or_default();
    let by_id = |part: &'_ RawValue| serde_json::from_str::<Answer>(part.get()).ok().map(|answer| answer.id);
    parts.into_iter().filter_map(|part| Some((by_id(part)?, part))).collect()
}

pub struct Sending<'a> {
    client: &'a PeerClient,
    peer: Peer<'a>,
    message: OutgoingCall<'a>,
    attempts: &'a mut Vec<SendAttempt>,
    time: Deadline,
    dialect: PeerDialect,
    /// Forms that the peer did not understand.
    tried: Vec<PeerDialect>,
    probed: Option<Option<PeerDialect>>,
    quirks: Quirks,
    thorough: bool,
    answered: bool,
    /// The next pause if the peer limits the rate without naming a time.
    pause: Duration,
    /// The MCP session has been reopened once.
    reopened: bool,
    /// The peer answered with success, but the caller did not understand the answer.
    acknowledged: bool,
}

impl Sending<'_> {
    async fn until(mut self, understood: impl Fn(&Exchange) -> bool) -> SendOutcome {
        while let Some(exchange) = self.next().await {
            if understood(exchange) {
                return self.finish(true);
            }
        }
        self.finish(false)
    }

    /// Sends the message in the next form and returns the answer; `None` when no form or no time is left. Calling it again means
    /// that the caller did not understand the last answer.
    pub async fn next(&mut self) -> Option<&Exchange> {
        let unknown = self.message.notice && !self.peer.dialect.knows(self.method());
        // Rare paths are boxed, here and below, to keep the future of every call small.
        if unknown || (self.answered && !Box::pin(self.prepare_next()).await) {
            return None;
        }
        let mut hung_up = false;
        loop {
            let endpoint = self.endpoint();
            if self.dialect.era() == McpStyle::Session && self.client.sessions.of(&endpoint).is_none() {
                // Without a session the call still goes out, and its refusal says why.
                Box::pin(self.probe(&endpoint).handshake()).await;
            }
            if self.time.left().is_zero() && !self.attempts.is_empty() {
                return None;
            }
            self.post(&endpoint).await;
            match self.attempts.last().map(|last| &last.result) {
                Some(Ok(_)) => break,
                // The network may have cut the connection, so the same form is tried once more. A server that crashes on one form may
                // accept another.
                Some(Err(CallError { kind: Failure::HungUp(_), .. })) if self.thorough => {
                    if std::mem::replace(&mut hung_up, true) {
                        hung_up = false;
                        if !Box::pin(self.next_form(&DialectError::Nothing)).await {
                            return None;
                        }
                    }
                }
                Some(Err(_)) | None => return None,
            }
        }
        self.answered = true;
        self.attempts.last()?.result.as_ref().ok()
    }

    pub fn finish(mut self, understood: bool) -> SendOutcome {
        if understood && self.acknowledged {
            self.quirks.note(Quirk::SaysOkToAnything);
        }
        // The dialect read from its tools holds even if the call failed.
        let now = if understood { Some(self.dialect) } else { self.probed.flatten() };
        let learned = now.filter(|dialect| dialect != self.peer.dialect);
        SendOutcome { understood, learned, quirks: self.quirks }
    }

    /// Chooses the next try after an answer that was not understood: later, in a new session, or in another form. False if none is left.
    async fn prepare_next(&mut self) -> bool {
        let Some(Ok(exchange)) = self.attempts.last().map(|last| &last.result) else { return false };
        if let Some(wish) = rate_limit(exchange) {
            self.quirks.note(Quirk::RateLimits);
            let wait = wish.unwrap_or(self.pause);
            if wait >= self.time.left() {
                return false;
            }
            sleep(wait).await;
            self.pause *= 2;
            return true;
        }
        if exchange.status == StatusCode::NOT_FOUND && self.dialect.era() == McpStyle::Session && !self.reopened {
            self.reopened = true;
            self.client.sessions.forget(&self.endpoint());
            return true;
        }
        if self.thorough && is_final(exchange) {
            return false;
        }
        let kind = if sse::is_stream(&exchange.headers) { NonJsonKind::Stream } else { NonJsonKind::Document };
        let error = DialectError::read(&self.dialect, self.method(), exchange.status.as_u16(), kind, &exchange.body);
        self.acknowledged |= error == DialectError::Nothing && exchange.status.is_success();
        self.next_form(&error).await
    }

    async fn next_form(&mut self, error: &DialectError) -> bool {
        self.tried.push(self.dialect.clone());
        if self.tried.len() >= if self.thorough { MAX_THOROUGH } else { MAX_FORMS } {
            return false;
        }
        loop {
            let attempt = DialectAttempt {
                tried: &self.tried,
                method: self.method(),
                dialect_error: error,
                notice: self.message.notice,
                proven: self.peer.proven && self.tried.len() == 1,
                tools_read: self.probed.is_some(),
                pathless: self.peer.endpoint.is_pathless(),
                thorough: self.thorough,
            };
            match attempt.next() {
                NextTry::Stop => return false,
                NextTry::Unknown => {
                    self.quirks.note(Quirk::UnknownNotice);
                    self.probed = Some(Some(self.peer.dialect.without(self.method())));
                    return false;
                }
                NextTry::Send(dialect) => {
                    self.dialect = dialect;
                    return true;
                }
                NextTry::ReadTools => {
                    let endpoint = self.endpoint();
                    let found =
                        self.probe(&endpoint).find_dialect().await.map(|found| self.dialect.with_tools_of(found));
                    self.probed = Some(found.clone());
                    let Some(found) = found.filter(|found| !self.tried.contains(found)) else { continue };
                    if self.message.notice && !found.knows(self.method()) {
                        self.quirks.note(Quirk::UnknownNotice);
                        return false;
                    }
                    self.dialect = found;
                    return true;
                }
            }
        }
    }

    async fn post(&mut self, endpoint: &Endpoint) {
        let (client, method) = (&self.client.client, self.method());
        let id = client.next_id();
        let mut body = Vec::with_capacity(1024 + self.message.body.map_or(0, <[u8]>::len));
        let written = self.message.write(&self.dialect, id, &mut body);
        let sent = Bytes::from(body);
        let result = match written {
            Ok(()) => {
                let headers = self.client.headers_of(endpoint, &self.dialect, method);
                let asking = client.ask(endpoint, &headers, sent.clone(), Some(id), &mut self.time);
                asking.instrument(trace::call_span(method)).await
            }
            Err(error) => {
                let receipt = client.receipt(self.time.left());
                Err(CallError { kind: Failure::Unwritable(error.to_string()), receipt })
            }
        };
        let name = name_of(self.message.call);
        client.record(name, sent.len(), &result);
        self.attempts.push(SendAttempt { name, is_probe: false, sent, result });
    }

    fn probe<'t>(&'t mut self, endpoint: &'t Endpoint) -> Probe<'t> {
        Probe { client: self.client, endpoint, time: &mut self.time, attempts: self.attempts }
    }

    fn method(&self) -> Method {
        self.message.call.method()
    }

    fn endpoint(&self) -> Endpoint {
        let endpoint = self.peer.endpoint;
        if self.dialect.is_at_root() && endpoint.is_pathless() { endpoint.at("/") } else { endpoint.clone() }
    }
}

fn name_of(call: &Call) -> &'static str {
    let row = call.method().row();
    row.message.unwrap_or(row.name)
}

/// True if the peer read the message and no other form changes its refusal: a credential, a name, a full league. A missing or
/// invalid field does not count, because the peer may expect it in another place.
pub(crate) fn is_final(exchange: &Exchange) -> bool {
    const ABOUT_FIELDS: [&str; 4] = ["E002", "E003", "E018", "E021"];
    let code = ParsedAnswer::parse(&exchange.body).ok().and_then(|layers| layers.error()?.code);
    let is_ours = |code: &str| ErrorCode::ALL.iter().any(|known| known.as_str() == code);
    code.is_some_and(|code| is_ours(&code) && !ABOUT_FIELDS.contains(&code.as_str()))
}

/// The outer `Option` says whether the peer limits the rate, the inner one for how long.
fn rate_limit(exchange: &Exchange) -> Option<Option<Duration>> {
    if exchange.status != StatusCode::TOO_MANY_REQUESTS {
        let error = ParsedAnswer::parse(&exchange.body).ok()?.error()?;
        if !error.is_rate_limit() {
            return None;
        }
    }
    let header = exchange.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let body: Option<Value> = serde_json::from_slice(&exchange.body).ok();
    let named = ["/retry_after", "/error/retry_after", "/error/data/retry_after", "/result/retry_after"];
    let in_body = || body.as_ref().and_then(|body| named.iter().find_map(|place| body.pointer(place)?.as_f64()));
    Some(header.or_else(in_body).and_then(|seconds: f64| Duration::try_from_secs_f64(seconds).ok()))
}
