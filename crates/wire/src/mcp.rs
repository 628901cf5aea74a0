//! `/mcp` as an MCP server, in the revisions with a handshake and in the one without.
//!
//! The server keeps no sessions, so it also answers a client that never sent `initialize`. `tools/call` is one of the frames of a
//! league call; this module only checks it against the rules of its revision.

mod error;
mod headers;
mod revision;
mod stream;
mod tools;

use std::borrow::Cow;

use http::{HeaderMap, StatusCode};
use league_protocol::frame::RequestId;
use league_protocol::request::McpRequest;
use league_protocol::sender::Role;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::dispatch::Reply;
use error::McpError;
use revision::{McpRevision, Meta};

#[derive(Clone, Copy)]
pub(crate) struct McpServer<'a> {
    pub(crate) role: Role,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) batched: bool,
}

impl McpServer<'_> {
    /// Answers any method except `tools/call`.
    pub(crate) fn answer(self, request: &McpRequest<'_>) -> serde_json::Result<Reply> {
        let (id, role) = (&request.id, self.role);
        let revision = match self.admit(request) {
            Ok(revision) => revision,
            Err(error) => return error.answer(id),
        };
        let modern = revision == McpRevision::Modern;
        match request.method.as_str() {
            "tools/list" => result(id, tools::list(role, revision)),
            "resources/list" => result(id, &tools::empty_list("resources", role, revision)),
            "resources/templates/list" => result(id, &tools::empty_list("resourceTemplates", role, revision)),
            "prompts/list" => result(id, &tools::empty_list("prompts", role, revision)),
            "initialize" if !modern => result(id, &tools::initialized(role, &requested_revision(request.params))),
            "ping" if !modern => result(id, "{}"),
            "server/discover" if modern => result(id, &tools::discovered(role)),
            method => McpError::no_method(method, revision).answer(id),
        }
    }

    /// Returns the fields that the tool's result ends with, or the refusal.
    pub(crate) fn admit_tool(self, request: &McpRequest<'_>) -> Result<&'static str, serde_json::Result<Reply>> {
        let revision = self.admit(request).map_err(|error| error.answer(&request.id))?;
        Ok(tools::tail(self.role, revision))
    }

    pub(crate) fn refuse_batch(self) -> Option<serde_json::Result<Reply>> {
        (McpRevision::of_header(self.headers) == McpRevision::Modern)
            .then(|| McpError::batch().answer(&RequestId::Null))
    }

    pub(crate) fn fit(self, reply: Reply) -> Reply {
        if self.batched { reply } else { stream::fit(reply, self.headers) }
    }

    fn admit(self, request: &McpRequest<'_>) -> Result<McpRevision, McpError> {
        let meta = Meta::of(request);
        let revision = McpRevision::of(request, &meta, self.headers);
        match revision {
            McpRevision::Handshake => admit_handshake(request, self.headers)?,
            McpRevision::Modern if self.batched => return Err(McpError::batch()),
            McpRevision::Modern => admit_modern(request, &meta, self.headers)?,
        }
        Ok(revision)
    }
}

/// Before the handshake no version is agreed; afterwards the header must name the agreed one.
fn admit_handshake(request: &McpRequest<'_>, headers: &HeaderMap) -> Result<(), McpError> {
    match headers::version(headers).filter(|version| !revision::REVISIONS.contains(version)) {
        Some(unknown) if request.method != "initialize" => Err(McpError::unsupported(unknown)),
        Some(_) | None => Ok(()),
    }
}

fn admit_modern(request: &McpRequest<'_>, meta: &Meta<'_>, headers: &HeaderMap) -> Result<(), McpError> {
    let version = meta.version().ok_or_else(|| McpError::missing("protocolVersion"))?;
    if !meta.has_capabilities() {
        return Err(McpError::missing("clientCapabilities"));
    }
    headers::require(headers, "MCP-Protocol-Version", &version)?;
    if version != revision::MODERN {
        return Err(McpError::unsupported(&version));
    }
    headers::require(headers, "Mcp-Method", &request.method)?;
    match tool_name(request) {
        Some(name) => Ok(headers::require(headers, "Mcp-Name", &name)?),
        // Tool dispatch refuses a call without a name.
        None => Ok(()),
    }
}

fn tool_name<'a>(request: &McpRequest<'a>) -> Option<Cow<'a, str>> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
    }
    let params = request.params.filter(|_| request.method == "tools/call")?;
    serde_json::from_str::<Named<'_>>(params.get()).ok().map(|named| named.name)
}

fn requested_revision(params: Option<&RawValue>) -> Cow<'_, str> {
    #[derive(Deserialize)]
    struct Initialize<'a> {
        #[serde(borrow, rename = "protocolVersion")]
        revision: Cow<'a, str>,
    }
    let request = params.and_then(|params| serde_json::from_str::<Initialize<'_>>(params.get()).ok());
    request.map(|request| request.revision).unwrap_or_default()
}

fn result(id: &RequestId, result: &str) -> serde_json::Result<Reply> {
    if *id == RequestId::Absent {
        return Ok(Reply::nothing());
    }
    let mut out = Vec::with_capacity(result.len() + 64);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    serde_json::to_writer(&mut out, id)?;
    out.extend_from_slice(b",\"result\":");
    out.extend_from_slice(result.as_bytes());
    out.push(b'}');
    Ok(Reply::new(StatusCode::OK, out))
}
