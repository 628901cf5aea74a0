//! Calling a peer in the dialect that it understands, and finding that dialect out where it is not known.
//!
//! All tries of one message share its limit: learning never stretches a deadline. The caller decides whether an answer is
//! understood; [`league_protocol::dialect_fallback`] decides which form comes next. A timeout or a broken connection ends the
//! sending: another form would not help, and the caller counts its own tries.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use league_protocol::answer::{ParsedAnswer, is_heard};
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

/// The most forms in which one message is tried.
const MAX_FORMS: usize = 5;

/// The most forms that a thorough search tries.
const MAX_THOROUGH: usize = 20;

/// The first pause after a peer asked for fewer calls; it doubles.
const BACK_OFF: Duration = Duration::from_millis(100);

/// How much of a peer's own words is quoted, in characters.
const QUOTED: usize = 200;

/// Calls peers; cheap to clone. The clones share their connections and sessions.
#[derive(Clone, Debug, Default)]
pub struct PeerClient {
    client: Client,
    sessions: Arc<Sessions>,
}

#[derive(Clone, Copy, Debug)]
pub struct Peer<'a> {
    pub endpoint: &'a Endpoint,
    /// Its dialect, as far as it is known.
    pub manner: &'a PeerDialect,
    /// Whether it has given a proper answer in this dialect.
    pub proven: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct OutgoingCall<'a> {
    pub envelope: &'a Envelope,
    pub call: &'a Call,
    /// The body, where it has been written already because it goes to many peers.
    pub body: Option<&'a [u8]>,
    /// The time for all tries.
    pub limit: Duration,
    /// Whether it only informs: then one other name is tried at most, and a peer that knows neither gets no further notices of this kind.
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

/// Takes any answer but an error as a sign that the peer understood.
pub fn heard(exchange: &Exchange) -> bool {
    exchange.status.is_success() && is_heard(&exchange.body)
}

/// One request and what came of it.
#[derive(Clone, Debug)]
pub struct SendAttempt {
    /// The message's name, or MCP's method.
    pub what: &'static str,
    /// Whether it was no message of the league, but a question about the peer's MCP.
    pub is_probe: bool,
    pub sent: Bytes,
    pub came: Result<Exchange, CallError>,
}

impl SendAttempt {
    /// What came of it, in words for a log: an answer, or what came instead of one.
    pub fn outcome(&self) -> Result<String, String> {
        let exchange = self.came.as_ref().map_err(ToString::to_string)?;
        let answered = format!("answered in {} ms", exchange.receipt.last_byte.unwrap_or_default().as_millis());
        if heard(exchange) {
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

/// What came of sending a message. The answer is that of the last attempt.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SendOutcome {
    pub understood: bool,
    /// The peer's dialect, where it is not the one that was expected.
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

    /// The headers of a call of `method` in this dialect: those of the session, and those that name the call.
    pub fn headers_of(&self, endpoint: &Endpoint, manner: &PeerDialect, method: Method) -> HeaderMap {
        if manner.frame() != Frame::Tool {
            return HeaderMap::new();
        }
        self.headers(endpoint, manner.era(), "tools/call", Some(manner.name_of(method)))
    }

    /// Opens an MCP session at `endpoint`; gives the headers of its requests, or `None` if there is no MCP server.
    pub async fn open_session(&self, endpoint: &Endpoint, limit: Duration) -> Option<HeaderMap> {
        let (mut time, mut attempts) = (self.client.allow(limit), Vec::new());
        Probe { client: self, endpoint, time: &mut time, attempts: &mut attempts }.handshake().await?;
        Some(self.headers(endpoint, McpStyle::Session, "tools/list", None))
    }

    pub(crate) fn headers(
        &self,
        endpoint: &Endpoint,
        era: McpStyle,
        method: &'static str,
        name: Option<&str>,
    ) -> HeaderMap {
        let session = if era == McpStyle::Session { self.sessions.of(endpoint) } else { None };
        probe::headers(era, session, method, name)
    }

    /// Like [`PeerClient::send`], unless `breakers`, where there are any, say that the endpoint failed too often of late.
    ///
    /// For notices only. A match counts its own tries, and a player that failed another match has not failed this one.
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
            let (what, sent) = (name_of(message.call), Bytes::new());
            attempts.push(SendAttempt { what, is_probe: false, sent, came: Err(refused) });
            return SendOutcome::default();
        }
        let outcome = self.send(peer, message, understood, attempts).await;
        if let (Some(breakers), Some(last)) = (breakers, attempts.last()) {
            let failed = last.came.as_ref().is_err_and(CallError::is_transient);
            breakers.note(peer.endpoint, failed, Instant::now());
        }
        outcome
    }

    /// Sends `message` to `peer`, form by form, until `understood` takes an answer. Every request is put into `attempts` as soon
    /// as its answer is there: a caller that drops this future still knows what was sent.
    pub async fn send(
        &self,
        peer: Peer<'_>,
        message: OutgoingCall<'_>,
        understood: impl Fn(&Exchange) -> bool,
        attempts: &mut Vec<SendAttempt>,
    ) -> SendOutcome {
        self.sending(peer, message, attempts).until(understood).await
    }

    /// Like [`PeerClient::send`], in every form that is in use: for a peer of which nothing is known.
    ///
    /// It ends early where another form cannot help: the peer cannot be reached, takes too long, or refuses for a reason of the
    /// league's own.
    pub async fn search(
        &self,
        peer: Peer<'_>,
        message: OutgoingCall<'_>,
        understood: impl Fn(&Exchange) -> bool,
        attempts: &mut Vec<SendAttempt>,
    ) -> SendOutcome {
        Sending { thorough: true, ..self.sending(peer, message, attempts) }.until(understood).await
    }

    /// Sends `message` form by form. The caller reads each answer, and asks for another one where it does not understand it.
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
            time: self.client.allow(message.limit),
            manner: peer.manner.clone(),
            tried: Vec::new(),
            looked: None,
            quirks: Quirks::default(),
            thorough: false,
            answered: false,
            pause: BACK_OFF,
            reopened: false,
            acknowledged: false,
        }
    }

    /// Sends notices in the canonical form as one JSON-RPC batch, within the limit of the first. Gives an attempt for each;
    /// nothing where the peer does not answer each of them.
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
        // In a trace each call has a span of its own.
        let spans: Vec<_> = calls.iter().map(|call| trace::calling(call.call.method())).collect();
        let mut time = self.client.allow(limit);
        let came = self.client.ask(endpoint, &HeaderMap::new(), sent.clone(), None, &mut time).await?;
        drop(spans);
        let answers = answers_by_id(&came.body);
        let attempts = calls.iter().zip(parts).map(|(call, (id, part))| {
            let body = came.body.slice_ref(answers.get(&id)?.get().as_bytes());
            let answer = Exchange { status: came.status, headers: HeaderMap::new(), body, receipt: came.receipt };
            let (what, sent) = (name_of(call.call), sent.slice(part));
            let attempt = SendAttempt { what, is_probe: false, sent, came: Ok(answer) };
            self.client.note(attempt.what, attempt.sent.len(), &attempt.came);
            Some(attempt)
        });
        Ok(attempts.collect())
    }
}

/// The answers of a batch by their JSON-RPC ids; none where this is no batch.
fn answers_by_id(body: &[u8]) -> HashMap<u64, &RawValue> {
    #[derive(Deserialize)]
    struct Answer {
        id: u64,
    }
    let parts: Vec<&RawValue> = serde_json::from_slice(body).unwrap_or_default();
    let by_id = |part: &'_ RawValue| serde_json::from_str::<Answer>(part.get()).ok().map(|answer| answer.id);
    parts.into_iter().filter_map(|part| Some((by_id(part)?, part))).collect()
}

/// A message that is being sent.
pub struct Sending<'a> {
    client: &'a PeerClient,
    peer: Peer<'a>,
    message: OutgoingCall<'a>,
    attempts: &'a mut Vec<SendAttempt>,
    time: Deadline,
    manner: PeerDialect,
    /// The forms that were not understood.
    tried: Vec<PeerDialect>,
    /// What a look at its tools showed, once there was one.
    looked: Option<Option<PeerDialect>>,
    quirks: Quirks,
    thorough: bool,
    /// Whether the last attempt was answered.
    answered: bool,
    /// The next pause, where the peer asks for fewer calls and names none.
    pause: Duration,
    /// Whether the MCP session was opened anew.
    reopened: bool,
    /// Whether an answer that the caller did not understand was a success.
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

    /// Sends the message in the next form, and gives the answer; nothing where no form or no time is left. A caller that asks for
    /// another answer has not understood the last one.
    pub async fn next(&mut self) -> Option<&Exchange> {
        let unknown = self.message.notice && !self.peer.manner.knows(self.method());
        // What is rare has its own box, here and below: it would make every call larger.
        if unknown || (self.answered && !Box::pin(self.prepare_next()).await) {
            return None;
        }
        let mut hung_up = false;
        loop {
            let endpoint = self.endpoint();
            if self.manner.era() == McpStyle::Session && self.client.sessions.of(&endpoint).is_none() {
                // Without a session the call is made all the same, and its refusal says why.
                Box::pin(self.probe(&endpoint).handshake()).await;
            }
            if self.time.left().is_zero() && !self.attempts.is_empty() {
                return None;
            }
            self.post(&endpoint).await;
            match self.attempts.last().map(|last| &last.came) {
                Some(Ok(_)) => break,
                // The network may have cut the connection, so the same form is tried once more. A server that fails over one
                // form may take another.
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
        self.attempts.last()?.came.as_ref().ok()
    }

    /// What came of it. `understood` says whether the last answer was one.
    pub fn finish(mut self, understood: bool) -> SendOutcome {
        if understood && self.acknowledged {
            self.quirks.note(Quirk::SaysOkToAnything);
        }
        // What its tools showed is true even where the call came to nothing.
        let now = if understood { Some(self.manner) } else { self.looked.flatten() };
        let learned = now.filter(|manner| manner != self.peer.manner);
        SendOutcome { understood, learned, quirks: self.quirks }
    }

    /// Decides how the message is sent again after an answer that was not understood: later, in a new session, or in another
    /// form; false when no way is left.
    async fn prepare_next(&mut self) -> bool {
        let Some(Ok(exchange)) = self.attempts.last().map(|last| &last.came) else { return false };
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
        if exchange.status == StatusCode::NOT_FOUND && self.manner.era() == McpStyle::Session && !self.reopened {
            self.reopened = true;
            self.client.sessions.forget(&self.endpoint());
            return true;
        }
        if self.thorough && is_final(exchange) {
            return false;
        }
        let kind = if sse::is_stream(&exchange.headers) { NonJsonKind::Stream } else { NonJsonKind::Document };
        let error = DialectError::read(&self.manner, self.method(), exchange.status.as_u16(), kind, &exchange.body);
        self.acknowledged |= error == DialectError::Nothing && exchange.status.is_success();
        self.next_form(&error).await
    }

    /// Finds the next form; false when there is none.
    async fn next_form(&mut self, error: &DialectError) -> bool {
        self.tried.push(self.manner.clone());
        if self.tried.len() >= if self.thorough { MAX_THOROUGH } else { MAX_FORMS } {
            return false;
        }
        loop {
            let attempt = DialectAttempt {
                tried: &self.tried,
                method: self.method(),
                rebuff: error,
                notice: self.message.notice,
                proven: self.peer.proven && self.tried.len() == 1,
                looked: self.looked.is_some(),
                pathless: self.peer.endpoint.is_pathless(),
                thorough: self.thorough,
            };
            match attempt.next() {
                NextTry::Stop => return false,
                NextTry::Unknown => {
                    self.quirks.note(Quirk::UnknownNotice);
                    self.looked = Some(Some(self.peer.manner.without(self.method())));
                    return false;
                }
                NextTry::Say(manner) => {
                    self.manner = manner;
                    return true;
                }
                NextTry::Look => {
                    let endpoint = self.endpoint();
                    let found = self.probe(&endpoint).look().await.map(|found| self.manner.with_tools_of(found));
                    self.looked = Some(found.clone());
                    let Some(found) = found.filter(|found| !self.tried.contains(found)) else { continue };
                    if self.message.notice && !found.knows(self.method()) {
                        self.quirks.note(Quirk::UnknownNotice);
                        return false;
                    }
                    self.manner = found;
                    return true;
                }
            }
        }
    }

    async fn post(&mut self, endpoint: &Endpoint) {
        let (client, method) = (&self.client.client, self.method());
        let id = client.next_id();
        let mut body = Vec::with_capacity(1024 + self.message.body.map_or(0, <[u8]>::len));
        let written = self.message.write(&self.manner, id, &mut body);
        let sent = Bytes::from(body);
        let came = match written {
            Ok(()) => {
                let headers = self.client.headers_of(endpoint, &self.manner, method);
                let asking = client.ask(endpoint, &headers, sent.clone(), Some(id), &mut self.time);
                asking.instrument(trace::calling(method)).await
            }
            Err(error) => {
                let receipt = client.receipt(self.time.left());
                Err(CallError { kind: Failure::Unwritable(error.to_string()), receipt })
            }
        };
        let what = name_of(self.message.call);
        client.note(what, sent.len(), &came);
        self.attempts.push(SendAttempt { what, is_probe: false, sent, came });
    }

    fn probe<'t>(&'t mut self, endpoint: &'t Endpoint) -> Probe<'t> {
        Probe { client: self.client, endpoint, time: &mut self.time, attempts: self.attempts }
    }

    fn method(&self) -> Method {
        self.message.call.method()
    }

    fn endpoint(&self) -> Endpoint {
        let endpoint = self.peer.endpoint;
        if self.manner.is_at_root() && endpoint.is_pathless() { endpoint.at("/") } else { endpoint.clone() }
    }
}

fn name_of(call: &Call) -> &'static str {
    let row = call.method().row();
    row.message.unwrap_or(row.name)
}

/// Whether a peer read the message and refuses it for a reason that no other form changes: a credential, a name, a full league. A
/// field that it misses or does not understand is no such reason, since it may have looked for it in another place.
pub(crate) fn is_final(exchange: &Exchange) -> bool {
    const ABOUT_FIELDS: [&str; 4] = ["E002", "E003", "E018", "E021"];
    let code = ParsedAnswer::parse(&exchange.body).ok().and_then(|layers| layers.error()?.code);
    let is_ours = |code: &str| ErrorCode::ALL.iter().any(|known| known.as_str() == code);
    code.is_some_and(|code| is_ours(&code) && !ABOUT_FIELDS.contains(&code.as_str()))
}

/// Whether a peer asks for fewer calls, and for how long it wants to be left alone, where it says so.
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
    let said = || body.as_ref().and_then(|body| named.iter().find_map(|place| body.pointer(place)?.as_f64()));
    Some(header.or_else(said).and_then(|seconds: f64| Duration::try_from_secs_f64(seconds).ok()))
}
