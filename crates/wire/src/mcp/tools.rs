//! The lists for MCP clients: the call table's rows for the agent's role, built once per role and revision.

use std::sync::OnceLock;

use league_protocol::sender::Role;
use league_protocol::table::TABLE;
use serde_json::{Value, json};

use super::revision::{McpRevision, REVISIONS, negotiated};

/// A list never changes while the agent runs.
const TTL_MS: u32 = 300_000;

pub(crate) fn list(role: Role, revision: McpRevision) -> &'static str {
    static LISTS: [OnceLock<String>; 8] = [const { OnceLock::new() }; 8];
    LISTS[role as usize * 2 + usize::from(revision == McpRevision::Modern)].get_or_init(|| {
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
        cacheable(json!({ "tools": tools }), role, revision).to_string()
    })
}

/// An empty list: agents have tools only, but some clients ask for every kind of list.
pub(crate) fn empty_list(what: &str, role: Role, revision: McpRevision) -> String {
    cacheable(json!({ what: [] }), role, revision).to_string()
}

pub(crate) fn discovered(role: Role) -> String {
    let result = json!({ "supportedVersions": REVISIONS, "capabilities": capabilities() });
    cacheable(result, role, McpRevision::Modern).to_string()
}

pub(crate) fn initialized(role: Role, requested_revision: &str) -> String {
    json!({
        "protocolVersion": negotiated(requested_revision),
        "capabilities": capabilities(),
        "serverInfo": server_info(role),
    })
    .to_string()
}

/// JSON fields that begin with a comma.
pub(crate) fn tail(role: Role, revision: McpRevision) -> &'static str {
    static TAILS: [OnceLock<String>; 4] = [const { OnceLock::new() }; 4];
    match revision {
        McpRevision::Handshake => "",
        McpRevision::Modern => {
            TAILS[role as usize].get_or_init(|| format!(",\"resultType\":\"complete\",\"_meta\":{}", meta(role)))
        }
    }
}

fn cacheable(mut result: Value, role: Role, revision: McpRevision) -> Value {
    if revision == McpRevision::Modern {
        result["resultType"] = "complete".into();
        result["ttlMs"] = TTL_MS.into();
        result["cacheScope"] = "public".into();
        result["_meta"] = meta(role);
    }
    result
}

fn capabilities() -> Value {
    json!({ "tools": { "listChanged": false } })
}

fn meta(role: Role) -> Value {
    json!({ "io.modelcontextprotocol/serverInfo": server_info(role) })
}

fn server_info(role: Role) -> Value {
    json!({ "name": format!("league-{role}"), "version": env!("CARGO_PKG_VERSION") })
}
