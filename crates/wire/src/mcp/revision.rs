//! The MCP revision of a request.
//!
//! The revisions up to 2025-11-25 begin with a handshake; in 2026-07-28 every request names its revision. A request belongs to the
//! latter if it has a version in its `_meta`, the method `server/discover`, or a header with that date or a later one. `initialize`
//! without such a `_meta` begins a handshake, whatever its header.

use std::borrow::Cow;

use http::HeaderMap;
use league_protocol::request::McpRequest;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::headers;

pub(crate) const MODERN: &str = "2026-07-28";

/// Newest first.
pub(crate) const REVISIONS: [&str; 5] = [MODERN, NEWEST_HANDSHAKE, "2025-06-18", "2025-03-26", "2024-11-05"];

/// The answer to a handshake that asks for an unsupported revision.
const NEWEST_HANDSHAKE: &str = "2025-11-25";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum McpRevision {
    /// 2024-11-05 to 2025-11-25: the version was agreed before.
    Handshake,
    /// 2026-07-28: every request names its version.
    Modern,
}

impl McpRevision {
    pub(crate) fn of(request: &McpRequest<'_>, meta: &Meta<'_>, headers: &HeaderMap) -> Self {
        let modern = match request.method.as_str() {
            "server/discover" => true,
            "initialize" => meta.version.is_some(),
            _ => meta.version.is_some() || Self::of_header(headers) == Self::Modern,
        };
        if modern { Self::Modern } else { Self::Handshake }
    }

    /// Revisions are dates, so they compare as texts.
    pub(crate) fn of_header(headers: &HeaderMap) -> Self {
        let is_date = |text: &str| text.len() == MODERN.len() && text.starts_with(|c: char| c.is_ascii_digit());
        match headers::version(headers) {
            Some(version) if is_date(version) && version >= MODERN => Self::Modern,
            Some(_) | None => Self::Handshake,
        }
    }
}

pub(crate) fn negotiated(requested_revision: &str) -> &'static str {
    REVISIONS.into_iter().find(|known| *known == requested_revision && *known != MODERN).unwrap_or(NEWEST_HANDSHAKE)
}

#[derive(Deserialize, Default)]
pub(crate) struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
}

impl<'a> Meta<'a> {
    /// Empty if `_meta` is not an object.
    pub(crate) fn of(request: &McpRequest<'a>) -> Self {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow, default, rename = "_meta")]
            meta: Option<&'a RawValue>,
        }
        let object = |raw: &&RawValue| raw.get().starts_with('{');
        let params = request.params.filter(object).and_then(|raw| serde_json::from_str::<Params<'_>>(raw.get()).ok());
        let meta = params.and_then(|params| params.meta).filter(object);
        meta.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }

    pub(crate) fn version(&self) -> Option<Cow<'a, str>> {
        serde_json::from_str(self.version?.get()).ok()
    }

    pub(crate) fn has_capabilities(&self) -> bool {
        self.capabilities.is_some_and(|raw| raw.get().starts_with('{'))
    }
}
