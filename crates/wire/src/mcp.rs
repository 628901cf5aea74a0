//! `/mcp` as an MCP server: the revisions that begin with a handshake.
//!
//! No session is kept, so every request stands alone and a client that never initialised is answered all the same.
//! `tools/call` is not here: it is one of the frames of a league's call. A revision without handshake changes what a
//! request is answered with, its HTTP status included, and therefore comes in beside [`answer`].

use std::borrow::Cow;
use std::sync::OnceLock;

use http::StatusCode;
use league_protocol::error::{Fault, METHOD_NOT_FOUND};
use league_protocol::frame::{Frame, RequestId};
use league_protocol::reply::ReplyTo;
use league_protocol::request::McpRequest;
use league_protocol::sender::Role;
use league_protocol::table::TABLE;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::agent::Agent;
use crate::dispatch::Reply;

/// The revisions that are spoken, the newest last.
const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// What is answered to a client that asks for a revision which is not among them.
const NEWEST: &str = "2025-11-25";

/// Answers a method of MCP.
pub(crate) fn answer<A: Agent>(agent: &A, request: McpRequest<'_>) -> serde_json::Result<Reply> {
    let McpRequest { method, id, params } = request;
    if id == RequestId::Absent {
        return Ok(Reply::nothing());
    }
    match method.as_str() {
        "initialize" => result(&id, initialized(agent.role(), params).as_bytes()),
        "ping" => result(&id, b"{}"),
        "tools/list" => result(&id, tools(agent.role()).as_bytes()),
        _ => {
            let known = "initialize, ping, tools/list, tools/call";
            let shown: String = method.chars().take(64).collect();
            let fault = Fault::rpc(METHOD_NOT_FOUND, format!("there is no method {shown:?} here; there are {known}"));
            let mut out = Vec::with_capacity(256);
            ReplyTo { frame: Frame::Direct, id, method: None }.refuse(&agent.envelope(None), &fault, &mut out)?;
            Ok(Reply::new(StatusCode::OK, out))
        }
    }
}

fn result(id: &RequestId, result: &[u8]) -> serde_json::Result<Reply> {
    let mut out = Vec::with_capacity(result.len() + 64);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    serde_json::to_writer(&mut out, id)?;
    out.extend_from_slice(b",\"result\":");
    out.extend_from_slice(result);
    out.push(b'}');
    Ok(Reply::new(StatusCode::OK, out))
}

fn initialized(role: Role, params: Option<&RawValue>) -> String {
    #[derive(Deserialize)]
    struct Wanted<'a> {
        #[serde(borrow, rename = "protocolVersion")]
        revision: Cow<'a, str>,
    }
    let wanted: Option<Wanted<'_>> = params.and_then(|params| serde_json::from_str(params.get()).ok());
    let revision = wanted.and_then(|wanted| REVISIONS.into_iter().find(|known| *known == wanted.revision));
    json!({
        "protocolVersion": revision.unwrap_or(NEWEST),
        "capabilities": { "tools": { "listChanged": false } },
        "serverInfo": { "name": format!("league-{role}"), "version": env!("CARGO_PKG_VERSION") },
    })
    .to_string()
}

/// The result of `tools/list` for an agent of this role: the rows of the call table that are for it, made once.
fn tools(role: Role) -> &'static str {
    static LISTS: [OnceLock<String>; 4] = [const { OnceLock::new() }; 4];
    let place = match role {
        Role::Manager => 0,
        Role::Referee => 1,
        Role::Player => 2,
        Role::Operator => 3,
    };
    LISTS[place].get_or_init(|| {
        let own = TABLE.iter().filter(|row| row.to.contains(&role));
        let tools: Vec<_> = own
            .map(|row| {
                json!({
                    "name": row.name,
                    "description": row.about.trim(),
                    "inputSchema": (row.input)(),
                    "outputSchema": (row.output)(),
                })
            })
            .collect();
        json!({ "tools": tools }).to_string()
    })
}
