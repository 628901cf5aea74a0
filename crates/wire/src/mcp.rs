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
    pub(crate) fn answer(self, asked: &McpRequest<'_>) -> serde_json::Result<Reply> {
        let (id, role) = (&asked.id, self.role);
        let era = match self.admit(asked) {
            Ok(era) => era,
            Err(objection) => return objection.answer(id),
        };
        match (era, asked.method.as_str()) {
            (McpRevision::Handshake | McpRevision::Modern, "tools/list") => result(id, tools::list(role, era)),
            (McpRevision::Handshake | McpRevision::Modern, "resources/list") => {
                result(id, &tools::nothing("resources", role, era))
            }
            (McpRevision::Handshake | McpRevision::Modern, "resources/templates/list") => {
                result(id, &tools::nothing("resourceTemplates", role, era))
            }
            (McpRevision::Handshake | McpRevision::Modern, "prompts/list") => {
                result(id, &tools::nothing("prompts", role, era))
            }
            (McpRevision::Handshake, "initialize") => result(id, &tools::initialized(role, &wanted(asked.params))),
            (McpRevision::Handshake, "ping") => result(id, "{}"),
            (McpRevision::Modern, "server/discover") => result(id, &tools::discovered(role)),
            (McpRevision::Handshake | McpRevision::Modern, method) => McpError::no_method(method, era).answer(id),
        }
    }

    /// Returns the fields that the tool's result ends with, or the refusal.
    pub(crate) fn admit_tool(self, asked: &McpRequest<'_>) -> Result<&'static str, serde_json::Result<Reply>> {
        let era = self.admit(asked).map_err(|objection| objection.answer(&asked.id))?;
        Ok(tools::tail(self.role, era))
    }

    pub(crate) fn refuse_batch(self) -> Option<serde_json::Result<Reply>> {
        (McpRevision::of_header(self.headers) == McpRevision::Modern)
            .then(|| McpError::batch().answer(&RequestId::Null))
    }

    pub(crate) fn fit(self, reply: Reply) -> Reply {
        if self.batched { reply } else { stream::fit(reply, self.headers) }
    }

    fn admit(self, asked: &McpRequest<'_>) -> Result<McpRevision, McpError> {
        let meta = Meta::of(asked);
        let era = McpRevision::of(asked, &meta, self.headers);
        match era {
            McpRevision::Handshake => admit_handshake(asked, self.headers)?,
            McpRevision::Modern if self.batched => return Err(McpError::batch()),
            McpRevision::Modern => admit_modern(asked, &meta, self.headers)?,
        }
        Ok(era)
    }
}

/// Before the handshake no version is agreed; afterwards the header must name the agreed one.
fn admit_handshake(asked: &McpRequest<'_>, headers: &HeaderMap) -> Result<(), McpError> {
    match headers::version(headers).filter(|version| !revision::REVISIONS.contains(version)) {
        Some(unknown) if asked.method != "initialize" => Err(McpError::unsupported(unknown)),
        Some(_) | None => Ok(()),
    }
}

fn admit_modern(asked: &McpRequest<'_>, meta: &Meta<'_>, headers: &HeaderMap) -> Result<(), McpError> {
    let version = meta.version().ok_or_else(|| McpError::missing("protocolVersion"))?;
    if !meta.has_capabilities() {
        return Err(McpError::missing("clientCapabilities"));
    }
    headers::demand(headers, "MCP-Protocol-Version", &version)?;
    if version != revision::MODERN {
        return Err(McpError::unsupported(&version));
    }
    headers::demand(headers, "Mcp-Method", &asked.method)?;
    match called(asked) {
        Some(name) => Ok(headers::demand(headers, "Mcp-Name", &name)?),
        // Tool dispatch refuses a call without a name.
        None => Ok(()),
    }
}

fn called<'a>(asked: &McpRequest<'a>) -> Option<Cow<'a, str>> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
    }
    let params = asked.params.filter(|_| asked.method == "tools/call")?;
    serde_json::from_str::<Named<'_>>(params.get()).ok().map(|named| named.name)
}

fn wanted(params: Option<&RawValue>) -> Cow<'_, str> {
    #[derive(Deserialize)]
    struct Wanted<'a> {
        #[serde(borrow, rename = "protocolVersion")]
        revision: Cow<'a, str>,
    }
    let wanted = params.and_then(|params| serde_json::from_str::<Wanted<'_>>(params.get()).ok());
    wanted.map(|wanted| wanted.revision).unwrap_or_default()
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
