//! The serialized form of a dialect. Reading never fails: it skips unknown or oversized entries, which the peer client learns again.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;

use super::{ArgumentShape, COLON_SENDER, CallDialect, MAX_FIELDS, MAX_NAME, McpStyle, PeerDialect};
use crate::frame::Frame;
use crate::table::{Method, TABLE};

/// On the wire.
#[derive(Serialize, Deserialize, JsonSchema)]
struct DialectOnWire {
    /// The frame by its letter.
    frame: SmolStr,
    /// For frame C: `session` or `2026-07-28`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    era: Option<SmolStr>,
    /// `/` where the endpoint names no path and `/mcp` is not the one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<SmolStr>,
    /// Whether answers are posted after a bare acknowledgement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    posts: bool,
    /// How the manager's sender is written, where that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sender: Option<SmolStr>,
    /// The one name for every call, where the type of the message decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<SmolStr>,
    /// The calls that differ.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    methods: BTreeMap<SmolStr, CallDialectOnWire>,
}

/// What is different about one call.
#[derive(Serialize, Deserialize, JsonSchema)]
struct CallDialectOnWire {
    /// Its name there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<SmolStr>,
    /// The fields that it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<SmolStr>>,
    /// The argument that the message stands under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    under: Option<SmolStr>,
    /// Whether it is not known there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unknown: bool,
}

impl From<DialectOnWire> for PeerDialect {
    fn from(written: DialectOnWire) -> Self {
        let frame = Frame::ALL.into_iter().find(|frame| written.frame.as_str() == frame.to_string());
        let mut dialect = Self::from(frame.unwrap_or(Frame::Direct));
        dialect.era = match (dialect.frame, written.era.as_deref()) {
            (Frame::Tool, Some("session")) => McpStyle::Session,
            (Frame::Tool, Some("2026-07-28")) => McpStyle::Stateless,
            (_, Some(_) | None) => McpStyle::AtOnce,
        };
        dialect.at_root = written.path.as_deref() == Some("/");
        dialect.posts = written.posts;
        dialect.colon = written.sender.is_some();
        let short = |text: &SmolStr| text.len() <= MAX_NAME;
        dialect.one_name = written.method.filter(short).map(|name| Box::from(name.as_str()));
        for (method, call) in written.methods {
            let Some((method, _)) = Method::named(&method) else { continue };
            let shape = match (call.fields, call.under) {
                (Some(fields), _) if fields.len() <= MAX_FIELDS && fields.iter().all(short) => {
                    ArgumentShape::Fields(fields)
                }
                (_, Some(key)) if short(&key) => ArgumentShape::Under(key),
                (Some(_) | None, Some(_) | None) => ArgumentShape::Whole,
            };
            dialect = dialect.with(CallDialect { method, name: call.name.filter(short), shape, unknown: call.unknown });
        }
        dialect
    }
}

impl From<&PeerDialect> for DialectOnWire {
    fn from(dialect: &PeerDialect) -> Self {
        let call = |call: &CallDialect| {
            let (fields, under) = match &call.shape {
                ArgumentShape::Whole => (None, None),
                ArgumentShape::Fields(fields) => (Some(fields.clone()), None),
                ArgumentShape::Under(key) => (None, Some(key.clone())),
            };
            let name = SmolStr::new_static(call.method.row().name);
            (name, CallDialectOnWire { name: call.name.clone(), fields, under, unknown: call.unknown })
        };
        Self {
            frame: SmolStr::from(dialect.frame.letter().to_string()),
            era: match dialect.era {
                McpStyle::AtOnce => None,
                McpStyle::Session => Some(SmolStr::new_static("session")),
                McpStyle::Stateless => Some(SmolStr::new_static("2026-07-28")),
            },
            path: dialect.at_root.then(|| SmolStr::new_static("/")),
            posts: dialect.posts,
            sender: dialect.colon.then(|| SmolStr::new_static(COLON_SENDER)),
            method: dialect.one_name.as_deref().map(SmolStr::new),
            methods: dialect.calls.iter().take(TABLE.len()).map(call).collect(),
        }
    }
}

impl Serialize for PeerDialect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        DialectOnWire::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PeerDialect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let any = serde_json::Value::deserialize(deserializer)?;
        Ok(serde_json::from_value::<DialectOnWire>(any).map(Self::from).unwrap_or_default())
    }
}

impl JsonSchema for PeerDialect {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Manner")
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        DialectOnWire::json_schema(generator)
    }
}
