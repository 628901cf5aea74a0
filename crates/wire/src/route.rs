//! HTTP routing: paths, methods, bodies and statuses.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use league_protocol::request::MAX_BODY;
use league_protocol::sender::Role;
use league_protocol::token::TokenDigest;
use serde_json::json;

use crate::agent::Agent;
use crate::client_network::ClientNetwork;
use crate::connections::{Activity, ConnectionState};
use crate::dispatch::{self, Caller, Media, Reply};
use crate::guard::{Guard, GuardError};
use crate::pages::{self, PageHandler, PageRequest, bearer};
use crate::rate::{KeyedLimiter, RetryAfter};
use crate::relay::{self, Relay};
use crate::settings::ServerSettings;
use crate::trusted_proxies::{TrustedProxies, UNKNOWN_CLIENT};

pub(crate) struct AgentSite<A> {
    pub(crate) agent: Arc<A>,
    pub(crate) guard: Guard,
    pub(crate) body_limit: Duration,
    pub(crate) pages: Option<Arc<dyn PageHandler>>,
    pub(crate) page_limiter: KeyedLimiter<ClientNetwork>,
    pub(crate) proxies: TrustedProxies,
    pub(crate) relay: Option<Arc<Relay>>,
    pub(crate) relay_key: Option<TokenDigest>,
}

pub(crate) type SiteAnswer = Response<Either<Full<Bytes>, pages::Body>>;

/// The body of a request: not read yet, or read to find the agent that it is for.
pub(crate) type RequestBody = Either<Incoming, Full<Bytes>>;

/// What a server answers with: one agent, or many agents at paths of their own.
pub(crate) trait Site: Send + Sync + 'static {
    fn respond(
        &self,
        request: Request<Incoming>,
        peer: SocketAddr,
        state: &ConnectionState,
    ) -> impl Future<Output = SiteAnswer> + Send;

    fn has_pages(&self) -> bool;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Route {
    Mcp,
    Register,
    Health,
}

impl Route {
    fn of(path: &str, role: Role) -> Option<Self> {
        match (path.strip_suffix('/').unwrap_or(path), role) {
            ("/mcp", _) => Some(Self::Mcp),
            ("/register", Role::Manager) => Some(Self::Register),
            ("/health", _) => Some(Self::Health),
            (_, Role::Manager | Role::Referee | Role::Player | Role::Operator) => None,
        }
    }

    fn list(role: Role) -> &'static [&'static str] {
        match role {
            Role::Manager => &["POST /mcp", "POST /register", "GET /health"],
            Role::Referee | Role::Player | Role::Operator => &["POST /mcp", "GET /health"],
        }
    }

    fn allow(self) -> &'static str {
        match self {
            Self::Mcp | Self::Register => "POST",
            Self::Health => "GET, HEAD",
        }
    }
}

impl<A: Agent> Site for AgentSite<A> {
    async fn respond(&self, request: Request<Incoming>, peer: SocketAddr, state: &ConnectionState) -> SiteAnswer {
        let (parts, body) = request.into_parts();
        self.respond_to(parts, Either::Left(body), peer, state).await
    }

    fn has_pages(&self) -> bool {
        self.pages.is_some()
    }
}

impl<A: Agent> AgentSite<A> {
    /// `bound` is the address of the listener.
    pub(crate) fn new(agent: Arc<A>, bound: SocketAddr, settings: &ServerSettings) -> Self {
        Self {
            agent,
            guard: Guard::new(bound, settings),
            body_limit: settings.read_limit,
            pages: settings.pages.clone(),
            page_limiter: KeyedLimiter::new(settings.page_rate),
            proxies: settings.trusted_proxies.clone(),
            relay: settings.relay.clone(),
            relay_key: settings.relay_key.clone(),
        }
    }

    /// The answer to a request that its Host or Origin forbids.
    pub(crate) fn forbidden(&self, parts: &Parts, peer: SocketAddr) -> Option<Response<Full<Bytes>>> {
        let error = self.guard.check(&parts.uri, &parts.headers).err()?;
        tracing::debug!(%peer, %error, "refused by Host or Origin");
        let status = match error {
            GuardError::NoHost => StatusCode::BAD_REQUEST,
            GuardError::Host(_) | GuardError::Origin(_) => StatusCode::FORBIDDEN,
        };
        Some(self.error_response(status, &error.to_string()))
    }

    pub(crate) async fn respond_to(
        &self,
        parts: Parts,
        body: RequestBody,
        peer: SocketAddr,
        state: &ConnectionState,
    ) -> SiteAnswer {
        // Everything after this line judges the client, and not its proxy or a standby.
        let relayed = self.relay_key.as_ref().and_then(|key| relay::client_of(&parts.headers, key));
        let direct = self.proxies.client(peer, &parts.headers);
        let peer = match relayed {
            // A client on the standby's machine is on this machine only if the standby is.
            Some(client) if client.ip().to_canonical().is_loopback() => direct,
            Some(client) => client,
            // The standby may be on this machine, but its client need not be.
            None if relay::is_relayed(&parts.headers) => UNKNOWN_CLIENT,
            None => direct,
        };
        if let Some(forbidden) = self.forbidden(&parts, peer) {
            return forbidden.map(Either::Left);
        }
        let route = Route::of(parts.uri.path(), self.agent.role());
        match (route, &self.pages) {
            (None, Some(pages)) if matches!(parts.method, Method::GET | Method::HEAD | Method::POST) => {
                if let Err(wait) = self.count_page_request(peer) {
                    let mut response =
                        self.error_response(StatusCode::TOO_MANY_REQUESTS, "too many requests; see Retry-After");
                    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait.seconds()));
                    return response.map(Either::Left);
                }
                let body = match parts.method {
                    Method::POST => self.read(body).await,
                    _ => Ok(Bytes::new()),
                };
                state.set(Activity::Answering);
                match body {
                    Ok(_) if parts.method == Method::POST && self.relay.is_some() => {
                        self.no_operator().map(Either::Left)
                    }
                    Ok(body) => pages.respond(PageRequest { parts, body, peer }).await.map(Either::Right),
                    Err((status, message)) => self.error_and_close(status, message).map(Either::Left),
                }
            }
            (route, _) => self.answer(route, parts, body, peer, state).await.map(Either::Left),
        }
    }

    /// Counts a request for a page. Loopback clients have no limit.
    fn count_page_request(&self, peer: SocketAddr) -> Result<(), RetryAfter> {
        let network = ClientNetwork::of(peer);
        if network.is_loopback() { Ok(()) } else { self.page_limiter.check(&network) }
    }

    async fn answer(
        &self,
        route: Option<Route>,
        parts: Parts,
        body: RequestBody,
        peer: SocketAddr,
        state: &ConnectionState,
    ) -> Response<Full<Bytes>> {
        let Some(route) = route else {
            return self.error_response(StatusCode::NOT_FOUND, "there is nothing at this path");
        };
        match (route, &parts.method) {
            (Route::Mcp | Route::Register, &Method::POST) => {}
            (Route::Health, &Method::GET | &Method::HEAD) => return self.health(),
            (Route::Mcp | Route::Register | Route::Health, _) => {
                let mut response =
                    self.error_response(StatusCode::METHOD_NOT_ALLOWED, "this path takes another method");
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(route.allow()));
                return response;
            }
        }
        let body = match self.read(body).await {
            Ok(body) => body,
            Err((status, message)) => return self.error_and_close(status, message),
        };
        state.set(Activity::Answering);
        if let Some(relay) = &self.relay {
            let path = (route == Route::Register).then_some("register");
            if let Some(answered) = relay.answer(path, &parts.headers, &body, peer).await {
                return answered;
            }
        }
        let caller = Caller { peer, bearer: bearer(&parts.headers), headers: &parts.headers };
        let reply = if route == Route::Mcp {
            dispatch::answer_post(&*self.agent, &body, &caller).await
        } else {
            dispatch::answer_registration(&*self.agent, &body, &caller).await
        };
        http_response(reply)
    }

    /// A form of a standby's page would be one of another site for the leader.
    fn no_operator(&self) -> Response<Full<Bytes>> {
        let leader = self.relay.as_ref().and_then(|relay| relay.leader());
        let leader = leader
            .map_or_else(|| String::from("no manager leads it now"), |leader| leader.endpoint.beside("").to_string());
        let message =
            format!("this manager is a standby and operates nothing; the league is operated where it is led: {leader}");
        self.error_response(StatusCode::CONFLICT, &message)
    }

    pub(crate) async fn read(&self, body: RequestBody) -> Result<Bytes, (StatusCode, &'static str)> {
        const TOO_LONG: (StatusCode, &str) = (StatusCode::PAYLOAD_TOO_LARGE, "a request has at most 65536 bytes");
        if body.size_hint().lower() > MAX_BODY as u64 {
            return Err(TOO_LONG);
        }
        match tokio::time::timeout(self.body_limit, Limited::new(body, MAX_BODY).collect()).await {
            Ok(Ok(whole)) => Ok(whole.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(TOO_LONG),
            Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "the request broke off")),
            Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time")),
        }
    }

    /// Closes the connection, because the rest of the body is unread.
    pub(crate) fn error_and_close(&self, status: StatusCode, message: &str) -> Response<Full<Bytes>> {
        let mut response = self.error_response(status, message);
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        response
    }

    fn health(&self) -> Response<Full<Bytes>> {
        match serde_json::to_vec(&self.agent.health()) {
            Ok(body) => http_response(Reply::new(StatusCode::OK, body)),
            Err(_) => self.error_response(StatusCode::INTERNAL_SERVER_ERROR, "the state could not be written"),
        }
    }

    fn error_response(&self, status: StatusCode, message: &str) -> Response<Full<Bytes>> {
        let body = json!({ "error": message, "exists": Route::list(self.agent.role()) });
        http_response(Reply::new(status, body.to_string()))
    }
}

pub(crate) fn http_response(reply: Reply) -> Response<Full<Bytes>> {
    let has_body = !reply.body.is_empty();
    let mut response = Response::new(Full::new(reply.body));
    *response.status_mut() = reply.status;
    let headers = response.headers_mut();
    if let Some(seconds) = reply.retry_after {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    match reply.media {
        Media::Json if has_body => {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        Media::Json => {}
        Media::Events => {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            // Tells proxies not to buffer events.
            headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        }
    }
    response
}
