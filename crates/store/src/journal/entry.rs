//! One line of a log. The course has two schemas, one with `agent_id` and `data`, one with `component` and `details`: a line has the
//! keys of both, so tools made for either can read it.

use league_protocol::id::ConversationId;
use league_protocol::time::Timestamp;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use smol_str::SmolStr;

/// How much a line matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    /// To whoever looks for a fault; the first to be dropped.
    Debug,
    /// To whoever wants to know what happened.
    Info,
    /// To whoever is responsible.
    Warn,
    /// To everybody: something is broken.
    Error,
}

/// One line.
#[derive(Clone, Debug)]
pub struct Entry {
    /// When.
    pub timestamp: Timestamp,
    /// How much it matters.
    pub level: Level,
    /// Who tells it: `league_manager`, `REF01`, `P01`.
    pub component: SmolStr,
    /// What happened, in capitals: `PLAYER_REGISTERED`.
    pub event_type: SmolStr,
    /// The same for people.
    pub message: String,
    /// Where it belongs.
    pub conversation_id: Option<ConversationId>,
    /// The message that it is about.
    pub message_type: Option<SmolStr>,
    /// Whatever else there is to know, without credentials.
    pub data: Option<Box<RawValue>>,
}

impl Entry {
    /// A line with what every line has.
    pub fn new(
        timestamp: Timestamp,
        level: Level,
        component: &str,
        event_type: &str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            timestamp,
            level,
            component: SmolStr::new(component),
            event_type: SmolStr::new(event_type),
            message: message.into(),
            conversation_id: None,
            message_type: None,
            data: None,
        }
    }

    /// With details. What cannot be written as JSON is left out.
    #[must_use]
    pub fn with(mut self, data: &impl Serialize) -> Self {
        let text = serde_json::to_vec(data).ok();
        self.data = text.map(crate::views::redact::redact_raw);
        self
    }
}

impl Serialize for Entry {
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
