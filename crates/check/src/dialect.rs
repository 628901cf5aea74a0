//! In which form an agent is spoken to.
//!
//! Any agent plays, so every other check speaks in the form that the agent understands, which is found as the league finds it
//! ([`league_wire::peer_client`]); that the form is not the canonical one is a finding of its own.

use std::fmt;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use league_protocol::dialect::{ArgumentShape, COLON_SENDER, McpStyle, PeerDialect};
use league_protocol::dialect_writer::MODERN_META;
use league_protocol::frame::Frame;
use league_protocol::sender::Sender;
use league_protocol::table::Method;
use serde_json::{Map, Value, json};

use crate::agent_client::AgentClient;
use crate::messages::{TestMessage, rpc};
use crate::response::Response;

/// The revision of MCP that the checker asks for.
const REVISION: &str = "2025-06-18";

#[derive(Clone, Debug, Default)]
pub(crate) struct CheckDialect {
    pub(crate) manner: PeerDialect,
}

impl fmt::Display for CheckDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame {}", self.manner)
    }
}

impl From<PeerDialect> for CheckDialect {
    fn from(manner: PeerDialect) -> Self {
        Self { manner }
    }
}

impl CheckDialect {
    pub(crate) fn frame(&self) -> Frame {
        self.manner.frame()
    }

    /// Whether it is the canonical form, wherever the agent listens and however it sends its answers back.
    pub(crate) fn is_canonical(&self) -> bool {
        let plain = self.manner.in_frame(self.frame());
        self.frame() == Frame::Direct && plain == self.manner
    }

    /// Whether answers come by posts of their own.
    pub(crate) fn posts(&self) -> bool {
        self.manner.posts()
    }

    pub(crate) fn canonical() -> Self {
        Self::default()
    }

    /// The form of MCP's `tools/call`, without a handshake.
    pub(crate) fn tool() -> Self {
        Self::from(PeerDialect::from(Frame::Tool))
    }

    /// The headers that an MCP server wants with a call of this kind.
    pub(crate) fn headers(&self, line: &AgentClient, method: Method) -> HeaderMap {
        line.speaker.headers_of(&line.endpoint, &self.manner, method)
    }

    pub(crate) fn write(&self, letter: &TestMessage, id: impl Into<Value>) -> Value {
        let message = self.message(letter);
        let name = self.manner.name_of(letter.method);
        let mut request = match self.frame() {
            Frame::Direct | Frame::Typed => rpc(name, &Value::Object(message), 0),
            Frame::Nested => rpc(name, &json!({ "message": message }), 0),
            Frame::Tool => {
                let arguments = match self.manner.shape_of(letter.method) {
                    ArgumentShape::Whole => message,
                    ArgumentShape::Under(key) => Map::from_iter([(key.to_string(), Value::Object(message))]),
                    ArgumentShape::Fields(known) => {
                        let known = |field: &str| known.iter().any(|known| known == field);
                        message.into_iter().filter(|(field, _)| known(field)).collect()
                    }
                };
                let mut params = json!({ "name": name, "arguments": arguments });
                if self.manner.era() == McpStyle::Stateless {
                    params["_meta"] = serde_json::from_str(MODERN_META).unwrap_or_default();
                }
                rpc("tools/call", &params, 0)
            }
            Frame::Bare | Frame::Register => return Value::Object(message),
        };
        request["id"] = id.into();
        request
    }

    fn message(&self, letter: &TestMessage) -> Map<String, Value> {
        let mut message = letter.message.clone();
        if self.manner.wants_colon()
            && message.get("sender").and_then(Value::as_str) == Some(Sender::manager().as_str())
        {
            message.insert(String::from("sender"), COLON_SENDER.into());
        }
        if self.frame() == Frame::Bare {
            message.entry("message_type").or_insert_with(|| letter.method.row().name.into());
        }
        message
    }

    /// Says `letter`, and waits for the answer.
    pub(crate) async fn say(&self, line: &AgentClient, letter: &TestMessage, limit: Duration) -> Response {
        let request = self.write(letter, line.next_id());
        line.post(&self.headers(line, letter.method), request.to_string(), limit).await
    }
}

/// An MCP server that has agreed on a revision: what it wants with every request of the session, and its tools.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handshake {
    pub(crate) headers: HeaderMap,
    pub(crate) tools: Vec<String>,
}

impl Handshake {
    /// Opens a session; nothing where there is no MCP server.
    pub(crate) async fn with(line: &AgentClient, limit: Duration) -> Option<Self> {
        let mut agreed = Self::default();
        let first = line.post(&HeaderMap::new(), initialize(line.next_id()).to_string(), limit).await;
        let revision = first.json()?.get("result")?.get("protocolVersion")?.as_str()?.to_owned();
        let session = first.came.ok()?.headers.get("mcp-session-id").cloned();
        let named = [("mcp-session-id", session), ("mcp-protocol-version", HeaderValue::from_str(&revision).ok())];
        for (name, value) in named {
            value.into_iter().for_each(|value| drop(agreed.headers.insert(HeaderName::from_static(name), value)));
        }
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        line.post(&agreed.headers, ready.to_string(), limit).await;
        let listed = line.post(&agreed.headers, list(line.next_id()).to_string(), limit).await;
        let tools = listed.json()?.get("result")?.get("tools")?.as_array()?.clone();
        agreed.tools = tools.iter().filter_map(|tool| Some(tool.get("name")?.as_str()?.to_owned())).collect();
        Some(agreed)
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
