//! Agents that are stock MCP servers, and what these demand before a tool call.
//! Written by hand after the behaviour of the SDKs, so that a test can count and remove sessions.

use serde_json::{Value, json};

use crate::agent_server::{AgentRequest, HttpResponse};
use crate::message::text;

const MODERN: &str = "2026-07-28";
const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

pub(crate) trait McpAgent: Sync {
    fn open_session(&self) -> String;

    fn has_session(&self, session: &str) -> bool;

    fn tools(&self) -> Value;

    fn framed(&self, body: &Value) -> impl Future<Output = HttpResponse> + Send;
}

fn error(code: i64, message: &str, id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

fn refusal(status: u16, code: i64, message: &str, id: &Value) -> HttpResponse {
    HttpResponse::json(status, &error(code, message, id)).refusing(message)
}

/// As a stream of events: a priming one, a notification and the answer, as servers may send them.
fn events(answer: &Value) -> HttpResponse {
    let notice =
        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "hm"}});
    let body =
        format!("id: 0\ndata:\n\n: thinking\n\nevent: message\ndata: {notice}\n\nevent: message\ndata: {answer}\n\n");
    let headers = vec![("content-type", String::from("text/event-stream")), ("cache-control", "no-cache".into())];
    HttpResponse { status: 200, headers, body, ..HttpResponse::default() }
}

fn info() -> Value {
    json!({"name": "stranger", "version": "1.0.0"})
}

/// A server with sessions. It knows no revision after the last one with a handshake.
pub(crate) async fn with_session(shared: &impl McpAgent, request: AgentRequest) -> HttpResponse {
    let body = &request.body;
    let (id, method) = (body.get("id").cloned().unwrap_or_default(), text(body, "method").to_owned());
    let accept = request.header("accept");
    if !(accept.contains("application/json") && accept.contains("text/event-stream")) {
        let why = "Not Acceptable: Client must accept both application/json and text/event-stream";
        return refusal(406, -32600, why, &id);
    }
    let session = request.header("mcp-session-id").to_owned();
    if method == "initialize" {
        let asked = text(&body["params"], "protocolVersion");
        let version = HANDSHAKES.iter().find(|known| **known == asked).unwrap_or(&HANDSHAKES[3]);
        let opened = shared.open_session();
        let result = json!({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info()});
        let mut response = events(&json!({"jsonrpc": "2.0", "id": id, "result": result})).about(&method, body);
        response.headers.push(("mcp-session-id", opened));
        return response;
    }
    if session.is_empty() {
        // SDK servers send a session id even with this refusal.
        let mut response = refusal(400, -32600, "Bad Request: Missing session ID", &id);
        response.headers.push(("mcp-session-id", String::from("not-a-session")));
        return response;
    }
    if !shared.has_session(&session) {
        return refusal(404, -32600, "Session not found", &id);
    }
    let version = request.header("mcp-protocol-version");
    if !(version.is_empty() || HANDSHAKES.contains(&version)) {
        return refusal(400, -32600, "Bad Request: Unsupported protocol version", &id);
    }
    if method.starts_with("notifications/") {
        return HttpResponse { status: 202, ..HttpResponse::default() }.about(&method, body);
    }
    let (answer, response) = served(shared, &method, &id, body).await;
    HttpResponse { kind: response.kind, message: response.message, refused: response.refused, ..events(&answer) }
}

/// A server of the revision without handshake, and of no other.
pub(crate) async fn stateless(shared: &impl McpAgent, request: AgentRequest) -> HttpResponse {
    let body = &request.body;
    let (id, method) = (body.get("id").cloned().unwrap_or_default(), text(body, "method").to_owned());
    let stated = body.pointer("/params/_meta").map_or("", |meta| text(meta, VERSION_KEY));
    let header = request.header("mcp-protocol-version");
    if stated.is_empty() && header.is_empty() {
        return refusal(400, -32600, "Bad Request: this server speaks 2026-07-28 only", &id);
    }
    if stated.is_empty() {
        return refusal(400, -32602, "Invalid params: _meta with the protocol version is missing", &id);
    }
    if stated != MODERN {
        let data = json!({"supported": [MODERN], "requested": stated});
        let mut answer = error(-32022, "Unsupported protocol version", &id);
        answer["error"]["data"] = data;
        return HttpResponse::json(400, &answer).refusing("another revision");
    }
    let name = body.pointer("/params/name").and_then(Value::as_str).unwrap_or_default();
    let named = method != "tools/call" || request.header("mcp-name") == name;
    if header != stated || request.header("mcp-method") != method || !named {
        return refusal(400, -32020, "Header mismatch", &id);
    }
    if method == "server/discover" {
        let result = json!({"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {"tools": {}},
            "serverInfo": info(), "ttlMs": 60_000, "cacheScope": "private"});
        return HttpResponse::json(200, &json!({"jsonrpc": "2.0", "id": id, "result": result})).about(&method, body);
    }
    let (mut answer, response) = served(shared, &method, &id, body).await;
    let status = if answer.pointer("/error/code") == Some(&json!(-32601)) { 404 } else { 200 };
    if let Some(result) = answer.get_mut("result") {
        result["resultType"] = json!("complete");
        if method == "tools/list" {
            result["ttlMs"] = json!(60_000);
            result["cacheScope"] = json!("private");
        }
    }
    HttpResponse {
        kind: response.kind,
        message: response.message,
        refused: response.refused,
        ..HttpResponse::json(status, &answer)
    }
}

async fn served(shared: &impl McpAgent, method: &str, id: &Value, body: &Value) -> (Value, HttpResponse) {
    match method {
        "tools/list" => {
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"tools": shared.tools()}});
            (answer, HttpResponse::default().about(method, body))
        }
        "ping" => (json!({"jsonrpc": "2.0", "id": id, "result": {}}), HttpResponse::default().about(method, body)),
        _ => {
            let response = shared.framed(body).await;
            (serde_json::from_str(&response.body).unwrap_or_default(), response)
        }
    }
}
