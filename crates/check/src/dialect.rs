//! The dialect of the checker's requests.
//!
//! The league plays with agents of any dialect, so the checks use the one that the agent understands, found by
//! [`league_wire::peer_client`]. A dialect other than the canonical one is a separate finding.

use std::fmt;
use std::time::Duration;

use http::HeaderMap;
use league_protocol::dialect::{COLON_SENDER, PeerDialect};
use league_protocol::frame::Frame;
use league_protocol::sender::Sender;
use league_protocol::table::Method;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::agent_client::AgentClient;
use crate::messages::{TestMessage, rpc};
use crate::response::Response;

const REVISION: &str = "2025-06-18";

#[derive(Clone, Debug, Default)]
pub(crate) struct CheckDialect {
    pub(crate) dialect: PeerDialect,
}

impl fmt::Display for CheckDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame {}", self.dialect)
    }
}

impl From<PeerDialect> for CheckDialect {
    fn from(dialect: PeerDialect) -> Self {
        Self { dialect }
    }
}

impl CheckDialect {
    pub(crate) fn frame(&self) -> Frame {
        self.dialect.frame()
    }

    /// Ignores the path and whether answers are posted.
    pub(crate) fn is_canonical(&self) -> bool {
        let plain = self.dialect.in_frame(self.frame());
        self.frame() == Frame::Direct && plain == self.dialect
    }

    pub(crate) fn posts(&self) -> bool {
        self.dialect.posts()
    }

    pub(crate) fn canonical() -> Self {
        Self::default()
    }

    pub(crate) fn tool() -> Self {
        Self::from(PeerDialect::from(Frame::Tool))
    }

    pub(crate) fn headers(&self, line: &AgentClient, method: Method) -> HeaderMap {
        line.peer_client.headers_of(&line.endpoint, &self.dialect, method)
    }

    pub(crate) fn write(&self, letter: &TestMessage, id: impl Serialize) -> Value {
        let (message, mut request) = (self.message(letter), Vec::new());
        // Serialization cannot fail here; if it did, the request would be empty.
        let written = |out: &mut Vec<u8>| serde_json::to_writer(out, &message);
        drop(self.dialect.write_message(id, letter.method, written, &mut request));
        serde_json::from_slice(&request).unwrap_or_default()
    }

    fn message(&self, letter: &TestMessage) -> Map<String, Value> {
        let mut message = letter.message.clone();
        if self.dialect.wants_colon()
            && message.get("sender").and_then(Value::as_str) == Some(Sender::manager().as_str())
        {
            message.insert(String::from("sender"), COLON_SENDER.into());
        }
        if self.frame() == Frame::Bare {
            message.entry("message_type").or_insert_with(|| letter.method.row().name.into());
        }
        message
    }

    pub(crate) async fn say(&self, line: &AgentClient, letter: &TestMessage, limit: Duration) -> Response {
        let request = self.write(letter, line.next_id());
        line.post(&self.headers(line, letter.method), request.to_string(), limit).await
    }
}

pub(crate) fn initialize(id: u64) -> Value {
    let client = json!({ "name": "league-check", "version": env!("CARGO_PKG_VERSION") });
    let params = json!({ "protocolVersion": REVISION, "capabilities": {}, "clientInfo": client });
    rpc("initialize", &params, id)
}
