//! Which revision of MCP a request speaks, found out anew for every request.
//!
//! The revisions up to 2025-11-25 begin with a handshake; 2026-07-28 has none, and every request says for itself what it
//! speaks. What gives a request away: a version in its `_meta`, the method `server/discover`, or a header with a date
//! that late. `initialize` without such a `_meta` begins a handshake whatever its header says.

use std::borrow::Cow;

use http::HeaderMap;
use league_protocol::request::McpRequest;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::headers;

pub(crate) const MODERN: &str = "2026-07-28";

/// Every revision that is spoken, the newest first.
pub(crate) const REVISIONS: [&str; 5] = [MODERN, NEWEST_HANDSHAKE, "2025-06-18", "2025-03-26", "2024-11-05"];

/// What is answered to a handshake that asks for a revision which is not among them.
const NEWEST_HANDSHAKE: &str = "2025-11-25";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum McpRevision {
    /// The version was agreed upon before: 2024-11-05 to 2025-11-25.
    Handshake,
    /// Every request stands alone: 2026-07-28.
    Modern,
}

impl McpRevision {
    pub(crate) fn of(asked: &McpRequest<'_>, meta: &Meta<'_>, headers: &HeaderMap) -> Self {
        let modern = match asked.method.as_str() {
            "server/discover" => true,
            "initialize" => meta.version.is_some(),
            _ => meta.version.is_some() || Self::of_header(headers) == Self::Modern,
        };
        if modern { Self::Modern } else { Self::Handshake }
    }

    /// What the header alone says. Revisions are dates, so their order is that of their texts.
    pub(crate) fn of_header(headers: &HeaderMap) -> Self {
        let is_date = |text: &str| text.len() == MODERN.len() && text.starts_with(|c: char| c.is_ascii_digit());
        match headers::version(headers) {
            Some(version) if is_date(version) && version >= MODERN => Self::Modern,
            Some(_) | None => Self::Handshake,
        }
    }
}

/// The revision that a handshake agrees upon.
pub(crate) fn agreed(wanted: &str) -> &'static str {
    REVISIONS.into_iter().find(|known| *known == wanted && *known != MODERN).unwrap_or(NEWEST_HANDSHAKE)
}

/// What a request says about itself.
#[derive(Deserialize, Default)]
pub(crate) struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
}

impl<'a> Meta<'a> {
    /// The `_meta` of a request; one that is no object says nothing.
    pub(crate) fn of(asked: &McpRequest<'a>) -> Self {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow, default, rename = "_meta")]
            meta: Option<&'a RawValue>,
        }
        let object = |raw: &&RawValue| raw.get().starts_with('{');
        let params = asked.params.filter(object).and_then(|raw| serde_json::from_str::<Params<'_>>(raw.get()).ok());
        let meta = params.and_then(|params| params.meta).filter(object);
        meta.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }

    pub(crate) fn version(&self) -> Option<Cow<'a, str>> {
        serde_json::from_str(self.version?.get()).ok()
    }

    /// Whether the client said what it is capable of.
    pub(crate) fn has_capabilities(&self) -> bool {
        self.capabilities.is_some_and(|raw| raw.get().starts_with('{'))
    }
}
