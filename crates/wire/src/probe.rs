//! Finds out what kind of MCP server a peer is. The client asks for the revision, else for a handshake, and then for the tools,
//! which name all calls and their arguments.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use league_protocol::answer::ParsedAnswer;
use league_protocol::dialect::{McpStyle, PeerDialect};
use league_protocol::dialect_writer::MODERN_META;
use league_protocol::error::METHOD_NOT_FOUND;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::endpoint::Endpoint;
use crate::exchange::Exchange;
use crate::peer_client::{PeerClient, SendAttempt};
use crate::runtime_lag::Deadline;
use crate::session::Session;

pub(crate) const MODERN: HeaderValue = HeaderValue::from_static("2026-07-28");
const HANDSHAKE: &str = "2025-11-25";

pub(crate) const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");

pub(crate) struct Probe<'a> {
    pub(crate) client: &'a PeerClient,
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) time: &'a mut Deadline,
    pub(crate) attempts: &'a mut Vec<SendAttempt>,
}

impl Probe<'_> {
    /// `None` if the peer is no MCP server or has no tool of the league.
    pub(crate) async fn find_dialect(&mut self) -> Option<PeerDialect> {
        let found = self.request("server/discover", McpStyle::Stateless, json!({})).await?;
        if result_of(&found).is_some_and(|result| result.get("supportedVersions").is_some()) {
            return self.tools(McpStyle::Stateless).await;
        }
        // A server that does not know the method may still have tools.
        if found.status.is_success() || is_unknown_method(&found) {
            let dialect = self.tools(McpStyle::AtOnce).await;
            if dialect.is_some() || found.status.is_success() {
                return dialect;
            }
        }
        self.handshake().await?;
        self.tools(McpStyle::Session).await
    }

    /// A server without sessions agrees on a revision and sends no id.
    pub(crate) async fn handshake(&mut self) -> Option<()> {
        let params = json!({
            "protocolVersion": HANDSHAKE,
            "capabilities": {},
            "clientInfo": { "name": "league", "version": env!("CARGO_PKG_VERSION") },
        });
        let agreed = self.request("initialize", McpStyle::AtOnce, params).await?;
        let result = result_of(&agreed).filter(|_| agreed.status.is_success())?;
        let revision = result.get("protocolVersion").and_then(Value::as_str).unwrap_or(HANDSHAKE);
        let revision = HeaderValue::from_str(revision).ok()?;
        // Some servers also put an id on a refusal; this answer is not a refusal.
        let session = Session { id: agreed.headers.get(SESSION).cloned(), revision };
        self.client.sessions().keep(self.endpoint, session);
        self.send_initialized().await;
        Some(())
    }

    async fn tools(&mut self, style: McpStyle) -> Option<PeerDialect> {
        let listed = self.request("tools/list", style, json!({})).await?;
        PeerDialect::of_tools(style, &result_of(&listed)?)
    }

    async fn request(&mut self, method: &'static str, style: McpStyle, mut params: Value) -> Option<Exchange> {
        if style == McpStyle::Stateless
            && let Ok(meta) = serde_json::from_str(MODERN_META)
            && let Some(params) = params.as_object_mut()
        {
            params.insert(String::from("_meta"), meta);
        }
        let id = self.client.client().next_id();
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(method, style, &body, Some(id)).await
    }

    async fn send_initialized(&mut self) {
        const INITIALIZED: &str = "notifications/initialized";
        let body = json!({ "jsonrpc": "2.0", "method": INITIALIZED });
        self.send(INITIALIZED, McpStyle::Session, &body, None).await;
    }

    async fn send(&mut self, method: &'static str, style: McpStyle, body: &Value, id: Option<u64>) -> Option<Exchange> {
        if self.time.left().is_zero() {
            return None;
        }
        let headers = self.client.headers(self.endpoint, style, method, None);
        let sent = bytes::Bytes::from(body.to_string());
        let result = self.client.client().ask(self.endpoint, &headers, sent.clone(), id, self.time).await;
        let answer = result.as_ref().ok().cloned();
        self.attempts.push(SendAttempt { name: method, is_probe: true, sent, result });
        answer
    }
}

pub(crate) fn headers(
    style: McpStyle,
    session: Option<Session>,
    method: &'static str,
    name: Option<&str>,
) -> HeaderMap {
    let mut headers = HeaderMap::new();
    match style {
        McpStyle::AtOnce => {}
        McpStyle::Session => {
            if let Some(session) = session {
                headers.insert(REVISION, session.revision);
                headers.extend(session.id.map(|id| (SESSION, id)));
            }
        }
        McpStyle::Stateless => {
            headers.insert(REVISION, MODERN);
            headers.insert(METHOD, HeaderValue::from_static(method));
            headers.extend(name.and_then(|name| HeaderValue::from_str(name).ok()).map(|name| (NAME, name)));
        }
    }
    headers
}

fn result_of(exchange: &Exchange) -> Option<Value> {
    #[derive(serde::Deserialize)]
    struct Response<'a> {
        #[serde(borrow, default)]
        result: Option<&'a RawValue>,
    }
    let response: Response<'_> = serde_json::from_slice(&exchange.body).ok()?;
    serde_json::from_str(response.result?.get()).ok()
}

/// The newest revision reports an unknown method with status 404.
fn is_unknown_method(exchange: &Exchange) -> bool {
    let error = ParsedAnswer::parse(&exchange.body).ok().and_then(|layers| layers.error());
    exchange.status == StatusCode::NOT_FOUND && error.is_some_and(|error| error.number == Some(METHOD_NOT_FOUND.into()))
}
