//! In which form an agent is spoken to, found out by trying.
//!
//! Any agent plays, so every other check speaks in the form that the agent understands; that the form is not the canonical one
//! is a finding of its own.

use std::fmt;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use league_protocol::frame::Frame;
use league_protocol::table::{Method, Spelling};
use serde_json::{Map, Value, json};

use crate::heard::Heard;
use crate::letters::{Letter, rpc};
use crate::line::Line;

/// The revision of MCP that the checker asks for.
const REVISION: &str = "2025-06-18";

/// A form.
#[derive(Clone, Debug)]
pub(crate) struct Voice {
    pub(crate) frame: Frame,
    spelling: Spelling,
    /// What an MCP server wants with every request of its session.
    pub(crate) headers: HeaderMap,
    /// The tools that an MCP server has listed, where it was asked.
    tools: Vec<Tool>,
}

/// A tool, as `tools/list` tells of it.
#[derive(Clone, Debug)]
struct Tool {
    name: String,
    arguments: Vec<String>,
}

impl fmt::Display for Voice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame {}", self.frame)?;
        match (self.spelling, self.headers.is_empty()) {
            (_, false) => f.write_str(", as an MCP server with sessions"),
            (Spelling::Alias(_), true) => f.write_str(", by other method names"),
            (Spelling::Name | Spelling::MessageType | Spelling::Dispatch, true) => Ok(()),
        }
    }
}

impl Voice {
    fn new(frame: Frame, spelling: Spelling) -> Self {
        Self { frame, spelling, headers: HeaderMap::new(), tools: Vec::new() }
    }

    pub(crate) fn is_canonical(&self) -> bool {
        self.frame == Frame::Direct && self.spelling == Spelling::Name
    }

    fn name(&self, method: Method) -> String {
        let row = method.row();
        let known = |name: &&str| self.tools.iter().any(|tool| tool.name == *name);
        let names = [row.name].into_iter().chain(row.aliases.iter().copied()).chain(row.message);
        let listed = names.clone().find(known).or_else(|| names.clone().find(|name| known(&&name.to_lowercase()[..])));
        match listed {
            Some(name) => name.to_owned(),
            None => method.spelled(self.spelling).to_owned(),
        }
    }

    /// The whole request.
    pub(crate) fn write(&self, letter: &Letter, id: impl Into<Value>) -> Value {
        let message = Value::Object(letter.message.clone());
        let mut request = match self.frame {
            Frame::Direct => rpc(&self.name(letter.method), &message, 0),
            Frame::Typed => rpc(letter.method.spelled(Spelling::MessageType), &message, 0),
            Frame::Nested => rpc(&self.name(letter.method), &json!({ "message": message }), 0),
            Frame::Tool => {
                let name = self.name(letter.method);
                let arguments = self.arguments(&name, letter);
                rpc("tools/call", &json!({ "name": name, "arguments": arguments }), 0)
            }
            Frame::Bare | Frame::Register => {
                let mut message = letter.message.clone();
                message.entry("message_type").or_insert_with(|| letter.method.row().name.into());
                return Value::Object(message);
            }
        };
        request["id"] = id.into();
        request
    }

    /// The arguments that a tool asks for: the message, those of its fields that it knows, or the message under its one name.
    fn arguments(&self, name: &str, letter: &Letter) -> Value {
        let message = Value::Object(letter.message.clone());
        let wanted = match self.tools.iter().find(|tool| tool.name == name) {
            Some(tool) if !tool.arguments.is_empty() => &tool.arguments,
            Some(_) | None => return message,
        };
        let own: Map<String, Value> = letter
            .message
            .iter()
            .filter(|(field, _)| wanted.contains(field))
            .map(|(field, value)| (field.clone(), value.clone()))
            .collect();
        match (&wanted[..], own.is_empty()) {
            ([only], true) => json!({ only.clone(): message }),
            (_, _) => Value::Object(own),
        }
    }

    /// The names of the tools that were listed.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| &tool.name[..])
    }

    /// Says `letter`, and waits for the answer.
    pub(crate) async fn say(&self, line: &Line, letter: &Letter, limit: Duration) -> Heard {
        let request = self.write(letter, line.next_id());
        line.post(&self.headers, request.to_string(), limit).await
    }

    /// The forms without a handshake, the canonical one first.
    pub(crate) fn plain() -> Vec<Self> {
        let forms = [
            (Frame::Direct, Spelling::Name),
            (Frame::Direct, Spelling::Alias(0)),
            (Frame::Typed, Spelling::MessageType),
            (Frame::Tool, Spelling::Name),
            (Frame::Nested, Spelling::Name),
            (Frame::Bare, Spelling::Dispatch),
        ];
        forms.into_iter().map(|(frame, spelling)| Self::new(frame, spelling)).collect()
    }

    /// The canonical form.
    pub(crate) fn canonical() -> Self {
        Self::new(Frame::Direct, Spelling::Name)
    }

    /// The form of MCP's `tools/call`, without a handshake.
    pub(crate) fn tool() -> Self {
        Self::new(Frame::Tool, Spelling::Name)
    }

    /// The form of an MCP server: initialised, with its session and its tools; nothing when it is none.
    pub(crate) async fn mcp(line: &Line, limit: Duration) -> Option<Self> {
        let mut voice = Self::tool();
        let first = line.post(&HeaderMap::new(), initialize(line.next_id()).to_string(), limit).await;
        let revision = first.json()?.get("result")?.get("protocolVersion")?.as_str()?.to_owned();
        let session = first.came.ok()?.headers.get("mcp-session-id").cloned();
        let named = [("mcp-session-id", session), ("mcp-protocol-version", HeaderValue::from_str(&revision).ok())];
        for (name, value) in named {
            value.into_iter().for_each(|value| drop(voice.headers.insert(HeaderName::from_static(name), value)));
        }
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        line.post(&voice.headers, ready.to_string(), limit).await;
        let listed = line.post(&voice.headers, list(line.next_id()).to_string(), limit).await;
        let tools = listed.json()?.get("result")?.get("tools")?.as_array()?.clone();
        voice.tools = tools.iter().filter_map(Tool::read).collect();
        Some(voice)
    }
}

/// `initialize` of MCP.
pub(crate) fn initialize(id: u64) -> Value {
    let client = json!({ "name": "league-check", "version": env!("CARGO_PKG_VERSION") });
    let params = json!({ "protocolVersion": REVISION, "capabilities": {}, "clientInfo": client });
    rpc("initialize", &params, id)
}

/// `tools/list` of MCP.
pub(crate) fn list(id: u64) -> Value {
    rpc("tools/list", &json!({}), id)
}

impl Tool {
    fn read(tool: &Value) -> Option<Self> {
        let properties = tool.get("inputSchema").and_then(|schema| schema.get("properties")?.as_object());
        let arguments = properties.map(|properties| properties.keys().cloned().collect()).unwrap_or_default();
        Some(Self { name: tool.get("name")?.as_str()?.to_owned(), arguments })
    }
}
