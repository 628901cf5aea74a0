//! Many leagues on one listener: each has its paths below `/leagues/<id>/`, and plain `/mcp` and `/register` lead to the league that
//! the message names.
//!
//! A hosted league keeps its own agent, pages and relay ([`HostedAgent`]); only the prefix of its paths is removed here.

use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use league_protocol::envelope::Envelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, LeagueId};
use league_protocol::sender::{Role, Sender};
use league_protocol::table::ManagerCall;
use serde_json::Value;

use crate::agent::{Agent, CallAnswer, Health, IncomingCall};
use crate::connections::ConnectionState;
use crate::dispatch::{self, Caller};
use crate::environment::Environment;
use crate::pages::bearer;
use crate::route::{AgentSite, RequestBody, Site, SiteAnswer, http_response};
use crate::settings::ServerSettings;

/// The path below which a league has its own.
pub fn league_path(league: &LeagueId) -> String {
    format!("/leagues/{league}/")
}

pub trait LeagueDirectory: Send + Sync + 'static {
    /// The league of a path, or of the `league_id` in a message. The error tells the client what to do.
    fn named(&self, league: &str) -> Result<HostedAgent, String>;

    /// The league of a message that names none.
    fn only(&self) -> Result<HostedAgent, String>;
}

/// The agent of one league, with the pages and the relay of its settings.
#[derive(Clone)]
pub struct HostedAgent(Arc<dyn AnySite>);

impl fmt::Debug for HostedAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostedAgent")
    }
}

impl HostedAgent {
    /// `bound` is the address of the listener.
    pub fn new<A: Agent>(agent: A, bound: SocketAddr, settings: &ServerSettings) -> Self {
        Self(Arc::new(AgentSite::new(Arc::new(agent), bound, settings)))
    }
}

type Answering<'a> = Pin<Box<dyn Future<Output = SiteAnswer> + Send + 'a>>;

/// A site whose agent is known only at run time.
trait AnySite: Send + Sync {
    fn respond_to<'a>(
        &'a self,
        parts: Parts,
        body: RequestBody,
        peer: SocketAddr,
        state: &'a ConnectionState,
    ) -> Answering<'a>;
}

impl<A: Agent> AnySite for AgentSite<A> {
    fn respond_to<'a>(
        &'a self,
        parts: Parts,
        body: RequestBody,
        peer: SocketAddr,
        state: &'a ConnectionState,
    ) -> Answering<'a> {
        Box::pin(AgentSite::respond_to(self, parts, body, peer, state))
    }
}

pub(crate) struct LeagueSites {
    directory: Arc<dyn LeagueDirectory>,
    environment: Environment,
    /// Everything outside of the leagues.
    root: AgentSite<NoLeague>,
}

/// Where a path leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PathTarget<'a> {
    /// A league, and the rest of the path with its slash.
    League(&'a str, &'a str),
    /// A league without the slash behind its id, which relative links need.
    Bare(&'a str),
    /// A call that goes to the league of its message.
    Call,
    Root,
}

impl<'a> PathTarget<'a> {
    fn of(path: &'a str) -> Self {
        let Some(below) = path.strip_prefix("/leagues/") else {
            let is_call = matches!(path.strip_suffix('/').unwrap_or(path), "/mcp" | "/register");
            return if is_call { Self::Call } else { Self::Root };
        };
        match below.find('/') {
            Some(end) => Self::League(&below[..end], &below[end..]),
            None if below.is_empty() => Self::Root,
            None => Self::Bare(below),
        }
    }
}

impl LeagueSites {
    pub(crate) fn new(
        directory: Arc<dyn LeagueDirectory>,
        environment: Environment,
        bound: SocketAddr,
        settings: &ServerSettings,
    ) -> Self {
        let why = String::from("no league was named");
        let agent = NoLeague { why, environment: environment.clone() };
        Self { directory, environment, root: AgentSite::new(Arc::new(agent), bound, settings) }
    }

    /// A call at a plain path, whose message names the league.
    async fn route_call(&self, parts: Parts, body: Incoming, peer: SocketAddr, state: &ConnectionState) -> SiteAnswer {
        if let Some(forbidden) = self.root.forbidden(&parts, peer) {
            return forbidden.map(Either::Left);
        }
        let body = match self.root.read(Either::Left(body)).await {
            Ok(body) => body,
            Err((status, message)) => return self.root.error_and_close(status, message).map(Either::Left),
        };
        let chosen = match league_of(&body) {
            Some(league) => self.directory.named(&league),
            None => self.directory.only(),
        };
        match chosen {
            Ok(HostedAgent(site)) => site.respond_to(parts, Either::Right(Full::new(body)), peer, state).await,
            Err(why) => self.refuse(&parts, &body, peer, why).await.map(Either::Left),
        }
    }

    /// Refuses a call in the words of its own frame.
    async fn refuse(&self, parts: &Parts, body: &Bytes, peer: SocketAddr, why: String) -> Response<Full<Bytes>> {
        let agent = NoLeague { why, environment: self.environment.clone() };
        let caller = Caller { peer, bearer: bearer(&parts.headers), headers: &parts.headers };
        let is_form = parts.uri.path().trim_end_matches('/').ends_with("/register");
        http_response(match is_form {
            true => dispatch::answer_registration(&agent, body, &caller).await,
            false => dispatch::answer_post(&agent, body, &caller).await,
        })
    }
}

impl Site for LeagueSites {
    async fn respond(&self, request: Request<Incoming>, peer: SocketAddr, state: &ConnectionState) -> SiteAnswer {
        let (mut parts, body) = request.into_parts();
        match PathTarget::of(parts.uri.path()) {
            PathTarget::League(league, rest) => match self.directory.named(league) {
                Ok(HostedAgent(site)) => {
                    parts.uri = without_prefix(&parts.uri, rest);
                    site.respond_to(parts, Either::Left(body), peer, state).await
                }
                Err(why) if parts.method == Method::POST && matches!(rest, "/mcp" | "/register") => {
                    if let Some(forbidden) = self.root.forbidden(&parts, peer) {
                        return forbidden.map(Either::Left);
                    }
                    match self.root.read(Either::Left(body)).await {
                        Ok(body) => self.refuse(&parts, &body, peer, why).await.map(Either::Left),
                        Err((status, message)) => self.root.error_and_close(status, message).map(Either::Left),
                    }
                }
                Err(_) => self.root.respond_to(parts, Either::Left(body), peer, state).await,
            },
            PathTarget::Bare(league) => redirect(&format!("/leagues/{league}/")).map(Either::Left),
            PathTarget::Call if parts.method == Method::POST => self.route_call(parts, body, peer, state).await,
            PathTarget::Call | PathTarget::Root => self.root.respond_to(parts, Either::Left(body), peer, state).await,
        }
    }

    fn has_pages(&self) -> bool {
        true
    }
}

fn without_prefix(uri: &Uri, rest: &str) -> Uri {
    let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
    let mut parts = uri.clone().into_parts();
    // A part of a path is a path.
    parts.path_and_query = format!("{rest}{query}").parse::<PathAndQuery>().ok();
    Uri::from_parts(parts).unwrap_or_default()
}

fn redirect(to: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    if let Ok(to) = HeaderValue::from_str(to) {
        response.headers_mut().insert(header::LOCATION, to);
    }
    response
}

/// The `league_id` of a message in any frame; of a batch, that of the first message that has one.
fn league_of(body: &[u8]) -> Option<String> {
    let message: Value = serde_json::from_slice(body).ok()?;
    message.as_array().map_or_else(|| named_in(&message), |messages| messages.iter().find_map(named_in))
}

fn named_in(message: &Value) -> Option<String> {
    let params = &message["params"];
    let places = [&params["league_id"], &params["arguments"]["league_id"], &message["league_id"]];
    places.into_iter().find_map(Value::as_str).map(str::to_owned)
}

/// Refuses every call, and says how to name a league.
#[derive(Debug)]
struct NoLeague {
    why: String,
    environment: Environment,
}

impl Agent for NoLeague {
    type Call = ManagerCall;

    fn role(&self) -> Role {
        Role::Manager
    }

    fn envelope(&self, echo: Option<ConversationId>) -> Envelope {
        let conversation_id = echo.unwrap_or_else(|| ConversationId::named("conv-manager"));
        Envelope { sender: Sender::manager(), timestamp: self.environment.now(), conversation_id, auth_token: None }
    }

    async fn call(&self, incoming: IncomingCall<ManagerCall>) -> Result<CallAnswer, RequestError> {
        Err(RequestError::new(ErrorCode::E008, incoming.method, self.why.clone()).about("league_id"))
    }

    fn health(&self) -> Health {
        Health { status: "ok", role: Role::Manager, id: None, league_id: None, state: String::from("serving") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_a_league_to_the_league_of_its_message_or_outside() {
        for (path, target) in [
            ("/leagues/spring/mcp", PathTarget::League("spring", "/mcp")),
            ("/leagues/spring/", PathTarget::League("spring", "/")),
            ("/leagues/spring/players/P01", PathTarget::League("spring", "/players/P01")),
            ("/leagues/spring", PathTarget::Bare("spring")),
            ("/mcp", PathTarget::Call),
            ("/mcp/", PathTarget::Call),
            ("/register", PathTarget::Call),
            ("/", PathTarget::Root),
            ("/leagues/", PathTarget::Root),
            ("/leagues", PathTarget::Root),
            ("/health", PathTarget::Root),
        ] {
            assert_eq!(PathTarget::of(path), target, "{path}");
        }
        let uri = Uri::from_static("/leagues/spring/schedule?round=2");
        assert_eq!(without_prefix(&uri, "/schedule"), "/schedule?round=2");
        assert_eq!(without_prefix(&Uri::from_static("http://h:1/leagues/a/"), "/"), "http://h:1/");
    }

    #[test]
    fn a_message_names_its_league_in_every_frame() {
        for body in [
            r#"{"jsonrpc":"2.0","method":"get_standings","params":{"league_id":"spring"},"id":1}"#,
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x","arguments":{"league_id":"spring"}},"id":1}"#,
            r#"{"message_type":"LEAGUE_QUERY","league_id":"spring"}"#,
            r#"[{"method":"initialize"},{"params":{"league_id":"spring"}}]"#,
        ] {
            assert_eq!(league_of(body.as_bytes()).as_deref(), Some("spring"), "{body}");
        }
        for body in ["", "[]", "7", r#"{"params":[1]}"#, r#"{"params":{"league_id":7}}"#] {
            assert_eq!(league_of(body.as_bytes()), None, "{body}");
        }
    }
}
