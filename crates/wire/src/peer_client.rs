//! Saying something to a peer in the manner that it understands, and finding that manner out where it is not known.
//!
//! All tries of one message share its limit: learning never stretches a deadline. What counts as understood is for the caller to
//! judge; which form comes next is for [`league_protocol::dialect_fallback`]. A timeout or a broken connection ends it: another form would
//! not mend that, and whoever counts tries wants to know.

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
use league_protocol::table::{Call, Method};
use serde_json::Value;
use tokio::time::{Instant, sleep};
use tracing::Instrument;

use crate::breaker::Breakers;
use crate::client::Client;
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

/// Speaks with peers; cheap to clone. The clones share their connections and sessions.
#[derive(Clone, Debug, Default)]
pub struct PeerClient {
    client: Client,
    sessions: Arc<Sessions>,
}

#[derive(Clone, Copy, Debug)]
pub struct Peer<'a> {
    pub endpoint: &'a Endpoint,
    /// How it is spoken to, as far as is known.
    pub manner: &'a PeerDialect,
    /// Whether it has given a proper answer when it was spoken to like that.
    pub proven: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct OutgoingCall<'a> {
    pub envelope: &'a Envelope,
    pub call: &'a Call,
    /// Its body, where that has been written already because it is said to many.
    pub body: Option<&'a [u8]>,
    /// The time for all tries together.
    pub limit: Duration,
    /// Whether it only informs: then it is tried under one other name at most, and a peer that knows neither is left in peace.
    pub notice: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerVerdict {
    /// The peer understood what was said, whatever it says to that.
    Understood,
    /// It does not answer what was asked.
    Misunderstood,
}

/// Judges answers. It may take its time, since an answer may still come on another way.
pub trait AnswerCheck: Sync {
    /// Whether `exchange` shows that the peer understood.
    fn judge(&self, exchange: &Exchange) -> impl Future<Output = AnswerVerdict> + Send;
}

/// A function that needs no time.
impl<F: Fn(&Exchange) -> AnswerVerdict + Sync> AnswerCheck for F {
    async fn judge(&self, exchange: &Exchange) -> AnswerVerdict {
        self(exchange)
    }
}

/// Takes anything but an error for a sign that the peer heard.
pub fn heard(exchange: &Exchange) -> AnswerVerdict {
    if exchange.status.is_success() && is_heard(&exchange.body) {
        AnswerVerdict::Understood
    } else {
        AnswerVerdict::Misunderstood
    }
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
        if heard(exchange) == AnswerVerdict::Understood {
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

/// What came of saying something. The answer itself is that of the last try.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SendOutcome {
    pub understood: bool,
    /// How the peer is spoken to, where that is not what was thought before.
    pub learned: Option<PeerDialect>,
    /// What was seen on the way.
    pub quirks: Quirks,
}

impl PeerClient {
    /// A speaker over `client`.
    pub fn new(client: Client) -> Self {
        Self { client, sessions: Arc::default() }
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The headers with which a peer that is spoken to like this is told `method`: those of its session, and those that name the
    /// call.
    pub fn headers_of(&self, endpoint: &Endpoint, manner: &PeerDialect, method: Method) -> HeaderMap {
        if manner.frame() != Frame::Tool {
            return HeaderMap::new();
        }
        self.headers(endpoint, manner.era(), "tools/call", Some(manner.name_of(method)))
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

    /// Like [`PeerClient::say`], unless `breakers`, where there are any, say that the endpoint failed too often of late.
    ///
    /// For notices that nobody waits for. The calls of a match do not come this way: a match counts its own tries, and a
    /// player that failed another match has not failed this one.
    pub async fn say_guarded(
        &self,
        breakers: Option<&Breakers>,
        peer: Peer<'_>,
        message: OutgoingCall<'_>,
        judge: &impl AnswerCheck,
        tries: &mut Vec<SendAttempt>,
    ) -> SendOutcome {
        if breakers.is_some_and(|breakers| !breakers.admit(peer.endpoint, Instant::now())) {
            let refused = CallError { kind: Failure::Refused, receipt: self.client.receipt(message.limit) };
            tries.push(SendAttempt {
                what: name_of(message.call),
                is_probe: false,
                sent: Bytes::new(),
                came: Err(refused),
            });
            return SendOutcome::default();
        }
        let said = self.send(peer, message, judge, tries).await;
        if let (Some(breakers), Some(last)) = (breakers, tries.last()) {
            let failed = last.came.as_ref().is_err_and(CallError::is_transient);
            breakers.note(peer.endpoint, failed, Instant::now());
        }
        said
    }

    /// Says `message` to `peer`. Every request that was made is put into `tries`, as soon as its answer is there: who drops
    /// this half-way still knows what was said.
    pub async fn send(
        &self,
        peer: Peer<'_>,
        message: OutgoingCall<'_>,
        judge: &impl AnswerCheck,
        tries: &mut Vec<SendAttempt>,
    ) -> SendOutcome {
        self.talk(peer, message, judge, tries, false).await
    }

    /// Like [`PeerClient::say`], in every form that is in use, until one is understood: for a peer of which nothing is known.
    ///
    /// It ends early where another form cannot help: the peer cannot be reached, takes too long, or refuses for a reason of the
    /// league's own.
    pub async fn search(
        &self,
        peer: Peer<'_>,
        message: OutgoingCall<'_>,
        judge: &impl AnswerCheck,
        tries: &mut Vec<SendAttempt>,
    ) -> SendOutcome {
        self.talk(peer, message, judge, tries, true).await
    }

    async fn talk(
        &self,
        peer: Peer<'_>,
        message: OutgoingCall<'_>,
        judge: &impl AnswerCheck,
        tries: &mut Vec<SendAttempt>,
        thorough: bool,
    ) -> SendOutcome {
        let method = message.call.method();
        if message.notice && !peer.manner.knows(method) {
            return SendOutcome::default();
        }
        let mut talk = Sending {
            speaker: self,
            peer,
            message,
            tries,
            time: self.client.allow(message.limit),
            manner: peer.manner.clone(),
            tried: Vec::new(),
            looked: None,
            quirks: Quirks::default(),
            thorough,
        };
        let understood = talk.run(judge).await;
        talk.ended(understood)
    }
}

struct Sending<'a> {
    speaker: &'a PeerClient,
    peer: Peer<'a>,
    message: OutgoingCall<'a>,
    tries: &'a mut Vec<SendAttempt>,
    time: Deadline,
    manner: PeerDialect,
    /// The forms that were not understood.
    tried: Vec<PeerDialect>,
    /// What a look at its tools showed, once there was one.
    looked: Option<Option<PeerDialect>>,
    quirks: Quirks,
    thorough: bool,
}

impl Sending<'_> {
    async fn run(&mut self, judge: &impl AnswerCheck) -> bool {
        let (mut pause, mut reopened, mut was_acknowledged) = (BACK_OFF, false, false);
        let mut hung_up = false;
        loop {
            let endpoint = self.endpoint();
            if self.manner.era() == McpStyle::Session && self.speaker.sessions.of(&endpoint).is_none() {
                // Without a session the call is made all the same, and its refusal says why. What is rare has its own box, here and below: it would
                // make every call larger.
                Box::pin(self.probe(&endpoint).handshake()).await;
            }
            if self.left().is_zero() && !self.tries.is_empty() {
                return false;
            }
            self.post(&endpoint).await;
            let exchange = match self.tries.last().map(|last| &last.came) {
                Some(Ok(exchange)) => exchange,
                // The network may have cut the connection, so the same form is tried once more. A server that fails over one form may
                // take another.
                Some(Err(CallError { kind: Failure::HungUp(_), .. })) if self.thorough => {
                    if !std::mem::replace(&mut hung_up, true) {
                        continue;
                    }
                    hung_up = false;
                    self.tried.push(self.manner.clone());
                    if self.tried.len() >= MAX_THOROUGH || !Box::pin(self.climb(&DialectError::Nothing)).await {
                        return false;
                    }
                    continue;
                }
                Some(Err(_)) | None => return false,
            };
            if judge.judge(exchange).await == AnswerVerdict::Understood {
                if was_acknowledged {
                    self.quirks.note(Quirk::SaysOkToAnything);
                }
                return true;
            }
            if let Some(wish) = rate_limit(exchange) {
                self.quirks.note(Quirk::RateLimits);
                let wait = wish.unwrap_or(pause);
                if wait >= self.left() {
                    return false;
                }
                sleep(wait).await;
                pause *= 2;
                continue;
            }
            if exchange.status == StatusCode::NOT_FOUND && self.manner.era() == McpStyle::Session && !reopened {
                reopened = true;
                self.speaker.sessions.forget(&endpoint);
                continue;
            }
            if self.thorough && is_final(exchange) {
                return false;
            }
            let kind = if sse::is_stream(&exchange.headers) { NonJsonKind::Stream } else { NonJsonKind::Document };
            let rebuff =
                DialectError::read(&self.manner, self.method(), exchange.status.as_u16(), kind, &exchange.body);
            was_acknowledged |= rebuff == DialectError::Nothing && exchange.status.is_success();
            self.tried.push(self.manner.clone());
            let most = if self.thorough { MAX_THOROUGH } else { MAX_FORMS };
            if self.tried.len() >= most || !Box::pin(self.climb(&rebuff)).await {
                return false;
            }
        }
    }

    /// Finds the next form; false when there is none.
    async fn climb(&mut self, rebuff: &DialectError) -> bool {
        loop {
            let rung = DialectAttempt {
                tried: &self.tried,
                method: self.method(),
                rebuff,
                notice: self.message.notice,
                proven: self.peer.proven && self.tried.len() == 1,
                looked: self.looked.is_some(),
                pathless: self.peer.endpoint.is_pathless(),
                thorough: self.thorough,
            };
            match rung.next() {
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

    fn ended(self, understood: bool) -> SendOutcome {
        // What its tools showed is true even where the call came to nothing.
        let now = if understood { Some(self.manner) } else { self.looked.flatten() };
        let learned = now.filter(|manner| manner != self.peer.manner);
        SendOutcome { understood, learned, quirks: self.quirks }
    }

    async fn post(&mut self, endpoint: &Endpoint) {
        let (client, method) = (&self.speaker.client, self.method());
        let id = client.next_id();
        let mut body = Vec::with_capacity(1024 + self.message.body.map_or(0, <[u8]>::len));
        let written = match self.message.body {
            Some(prepared) => self.manner.write_prepared(id, self.message.envelope, (method, prepared), &mut body),
            None => self.manner.write(id, self.message.envelope, self.message.call, &mut body),
        };
        let sent = Bytes::from(body);
        let came = match written {
            Ok(()) => {
                let headers = self.speaker.headers_of(endpoint, &self.manner, method);
                let asking = client.ask(endpoint, &headers, sent.clone(), Some(id), &mut self.time);
                asking.instrument(trace::calling(method)).await
            }
            Err(error) => {
                Err(CallError { kind: Failure::Unwritable(error.to_string()), receipt: client.receipt(self.left()) })
            }
        };
        let what = name_of(self.message.call);
        client.note(what, sent.len(), &came);
        self.tries.push(SendAttempt { what, is_probe: false, sent, came });
    }

    fn probe<'t>(&'t mut self, endpoint: &'t Endpoint) -> Probe<'t> {
        Probe { speaker: self.speaker, endpoint, time: &mut self.time, tries: self.tries }
    }

    fn method(&self) -> Method {
        self.message.call.method()
    }

    fn left(&self) -> Duration {
        self.time.left()
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
