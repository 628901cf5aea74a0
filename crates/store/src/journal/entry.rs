//! One line of a log. The course defines two schemas, one with `agent_id` and `data`, one with `component` and `details`.
//! A line has the keys of both, so tools for either can read it.
//!
//! A line may quote a peer. So its message is cut at [`MAX_MESSAGE`] bytes, tokens are hidden, and details of more than
//! [`MAX_DATA`] bytes are left out.

use league_protocol::id::ConversationId;
use league_protocol::time::Timestamp;
use league_protocol::token::redacted;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use smol_str::SmolStr;

pub const MAX_MESSAGE: usize = 1024;
pub const MAX_DATA: usize = 16 * 1024;
/// The prefix of every token that the manager issues.
const TOKEN: &str = "tok-";

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum JournalLevel {
    /// One message and its outcome; dropped first when the queue is full.
    Debug,
    Info,
    /// A failure after which the league continues: a timeout, a refusal, a retry.
    Warn,
    Error,
}

#[derive(Clone, Debug)]
pub struct JournalEntry {
    pub timestamp: Timestamp,
    pub level: JournalLevel,
    /// The agent that writes the line: `league_manager`, `REF01`, `P01`.
    pub component: SmolStr,
    pub event_type: SmolStr,
    pub message: String,
    pub conversation_id: Option<ConversationId>,
    pub message_type: Option<SmolStr>,
    pub data: Option<Box<RawValue>>,
}

impl JournalEntry {
    pub fn new(
        timestamp: Timestamp,
        level: JournalLevel,
        component: &str,
        event_type: &str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            timestamp,
            level,
            component: SmolStr::new(component),
            event_type: SmolStr::new(event_type),
            message: shown(message.into()),
            conversation_id: None,
            message_type: None,
            data: None,
        }
    }

    #[must_use]
    pub fn in_conversation(mut self, conversation: Option<&ConversationId>) -> Self {
        self.conversation_id = conversation.cloned();
        self
    }

    #[must_use]
    pub fn about(mut self, message_type: &str) -> Self {
        self.message_type = Some(SmolStr::new(message_type));
        self
    }

    /// Details that JSON cannot express, or that are too long, are left out.
    #[must_use]
    pub fn with(mut self, data: &impl Serialize) -> Self {
        let text = serde_json::to_vec(data).ok().filter(|text| text.len() <= MAX_DATA);
        self.data = text.map(crate::views::redact::redact_raw);
        self
    }
}

fn shown(text: String) -> String {
    let mut text = if text.contains(TOKEN) { without_tokens(&text) } else { text };
    if text.len() > MAX_MESSAGE {
        text.truncate(text.floor_char_boundary(MAX_MESSAGE));
        text.push('…');
    }
    text
}

fn without_tokens(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(TOKEN) {
        shown.push_str(&rest[..start]);
        let token = &rest[start..];
        let end = token.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_')).unwrap_or(token.len());
        shown.push_str(&redacted(&token[..end]));
        rest = &token[end..];
    }
    shown.push_str(rest);
    shown
}

impl Serialize for JournalEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_map(None)?;
        line.serialize_entry("timestamp", &self.timestamp)?;
        line.serialize_entry("level", &self.level)?;
        line.serialize_entry("agent_id", &self.component)?;
        line.serialize_entry("component", &self.component)?;
        line.serialize_entry("event_type", &self.event_type)?;
        line.serialize_entry("message", &self.message)?;
        if let Some(conversation) = &self.conversation_id {
            line.serialize_entry("conversation_id", conversation)?;
        }
        if let Some(message_type) = &self.message_type {
            line.serialize_entry("message_type", message_type)?;
        }
        if let Some(data) = &self.data {
            line.serialize_entry("data", data)?;
            line.serialize_entry("details", data)?;
        }
        line.end()
    }
}
