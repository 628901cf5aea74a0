//! HTTP routing: paths, methods, bodies and statuses.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use league_protocol::request::MAX_BODY;
use league_protocol::sender::Role;
use league_protocol::token::Credential;
use serde_json::json;

use crate::agent::Agent;
use crate::client_network::ClientNetwork;
use crate::connections::{Activity, ConnectionState};
use crate::dispatch::{self, Caller, Media, Reply};
use crate::guard::{Guard, GuardError};
use crate::pages::{self, PageHandler, PageRequest};
use crate::rate::{KeyedLimiter, RetryAfter};

pub(crate) struct AgentSite<A> {
    pub(crate) agent: Arc<A>,
    pub(crate) guard: Guard,
    pub(crate) body_limit: Duration,
    pub(crate) pages: Option<Arc<dyn PageHandler>>,
    pub(crate) page_limiter: KeyedLimiter<ClientNetwork>,
}

pub(crate) type SiteAnswer = Response<Either<Full<Bytes>, pages::Body>>;

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

impl<A: Agent> AgentSite<A> {
    pub(crate) async fn respond(
        &self,
        request: Request<Incoming>,
        peer: SocketAddr,
        state: &ConnectionState,
    ) -> SiteAnswer {
        let (parts, body) = request.into_parts();
        if let Err(error) = self.guard.check(&parts.uri, &parts.headers) {
            tracing::debug!(%peer, %error, "refused by Host or Origin");
            let status = match error {
                GuardError::NoHost => StatusCode::BAD_REQUEST,
                GuardError::Host(_) | GuardError::Origin(_) => StatusCode::FORBIDDEN,
            };
            return self.error_response(status, &error.to_string()).map(Either::Left);
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
        body: Incoming,
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
        let caller = Caller { peer, bearer: bearer(&parts.headers), headers: &parts.headers };
        let reply = if route == Route::Mcp {
            dispatch::answer_post(&*self.agent, &body, &caller).await
        } else {
            dispatch::answer_registration(&*self.agent, &body, &caller).await
        };
        http_response(reply)
    }

    async fn read(&self, body: Incoming) -> Result<Bytes, (StatusCode, &'static str)> {
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
    fn error_and_close(&self, status: StatusCode, message: &str) -> Response<Full<Bytes>> {
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

fn bearer(headers: &HeaderMap) -> Option<Credential> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then(|| Credential::new(token))
}

fn http_response(reply: Reply) -> Response<Full<Bytes>> {
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
