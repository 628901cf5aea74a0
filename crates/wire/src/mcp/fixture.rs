//! Tools for the official conformance suite: it calls tools of its own by their names, to see texts, errors, schemas and
//! headers come through. Nobody else is ever shown them.

use http::HeaderMap;
use league_protocol::request::McpRequest;
use serde_json::{Map, Value, json};

use super::headers::{self, Mismatch};
use super::revision::McpRevision;

/// A call of one of them.
pub(crate) struct Fixture {
    tool: Tool,
    arguments: Map<String, Value>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tool {
    SimpleText,
    Error,
    Schema,
    Header,
}

impl Tool {
    const ALL: [Self; 4] = [Self::SimpleText, Self::Error, Self::Schema, Self::Header];

    fn name(self) -> &'static str {
        match self {
            Self::SimpleText => "test_simple_text",
            Self::Error => "test_error_handling",
            Self::Schema => "json_schema_2020_12_tool",
            Self::Header => "test_header",
        }
    }

    fn schema(self) -> Value {
        match self {
            Self::SimpleText | Self::Error => json!({ "type": "object", "additionalProperties": false }),
            Self::Schema => json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "$defs": { "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
                } },
                "properties": {
                    "name": { "type": "string" },
                    "address": { "$ref": "#/$defs/address" },
                    "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                    "phone": { "type": "string" },
                    "email": { "type": "string" },
                },
                "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
                "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
                "then": { "required": ["phone"] },
                "else": { "required": ["email"] },
                "additionalProperties": false,
            }),
            Self::Header => json!({
                "type": "object",
                "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
                "required": ["region"],
            }),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::SimpleText => "This is a simple text response for testing.",
            Self::Error => "This tool intentionally returns an error for testing",
            Self::Schema | Self::Header => "The arguments have arrived.",
        }
    }
}

/// What `tools/list` shows of them.
pub(crate) fn tools() -> impl Iterator<Item = Value> {
    Tool::ALL.into_iter().map(|tool| {
        json!({ "name": tool.name(), "description": "For the conformance suite.", "inputSchema": tool.schema() })
    })
}

impl Fixture {
    /// The call, if it is one of theirs.
    pub(crate) fn called(asked: &McpRequest<'_>) -> Option<Self> {
        let mut params: Map<String, Value> = serde_json::from_str(asked.params?.get()).ok()?;
        let name = params.get("name")?.as_str()?;
        let tool = Tool::ALL.into_iter().find(|tool| tool.name() == name)?;
        let arguments = match params.remove("arguments") {
            Some(Value::Object(arguments)) => arguments,
            Some(_) | None => Map::new(),
        };
        Some(Self { tool, arguments })
    }

    /// Holds the headers that the tool asks for against its arguments, in the era that has such headers.
    pub(crate) fn check(&self, era: McpRevision, headers: &HeaderMap) -> Result<(), Mismatch> {
        match era {
            McpRevision::Handshake => Ok(()),
            McpRevision::Modern => headers::demand_arguments(headers, &self.tool.schema(), &self.arguments),
        }
    }

    /// The result, which ends with `tail`.
    pub(crate) fn result(&self, tail: &str) -> String {
        let (text, is_error) = (Value::from(self.tool.text()), self.tool == Tool::Error);
        format!("{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}],\"isError\":{is_error}{tail}}}")
    }
}
