use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::dialect::{ArgumentShape, COLON_SENDER, McpStyle, PeerDialect};
use crate::envelope::Envelope;
use crate::frame::Frame;
use crate::reply::splice;
use crate::sender::{Role, Sender};
use crate::table::{Call, Method};

/// Required in every request of revision 2026-07-28.
pub const MODERN_META: &str = concat!(
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"league","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""},"io.modelcontextprotocol/clientCapabilities":{}}"#,
);

impl PeerDialect {
    /// The id is an integer, because several public players accept nothing else.
    pub fn write(&self, id: u64, envelope: &Envelope, call: &Call, out: &mut Vec<u8>) -> serde_json::Result<()> {
        let method = call.method();
        self.write_message(id, method, |out| self.message(envelope, method, &|out| call.write_body(out), out), out)
    }

    /// For a body from [`Call::write_body`], so that a notice to many peers is serialized once.
    pub fn write_prepared(
        &self,
        id: u64,
        envelope: &Envelope,
        (method, body): (Method, &[u8]),
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let copy = |out: &mut Vec<u8>| {
            out.extend_from_slice(body);
            Ok(())
        };
        self.write_message(id, method, |out| self.message(envelope, method, &copy, out), out)
    }

    pub fn write_message(
        &self,
        id: impl Serialize,
        method: Method,
        message: impl Fn(&mut Vec<u8>) -> serde_json::Result<()>,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let (frame, name) = (self.frame(), self.name_of(method));
        let before: &[u8] = match frame {
            Frame::Direct | Frame::Typed | Frame::Nested => b"{\"jsonrpc\":\"2.0\",\"method\":",
            Frame::Tool => b"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":",
            Frame::Bare | Frame::Register => return message(out),
        };
        out.extend_from_slice(before);
        // The peer's own name may contain any character.
        serde_json::to_writer(&mut *out, name)?;
        match frame {
            Frame::Direct | Frame::Typed | Frame::Bare | Frame::Register => {
                out.extend_from_slice(b",\"params\":");
                message(out)?;
            }
            Frame::Nested => {
                out.extend_from_slice(b",\"params\":{\"message\":");
                message(out)?;
                out.push(b'}');
            }
            Frame::Tool => {
                out.extend_from_slice(b",\"arguments\":");
                self.arguments(method, message, out)?;
                if self.era() == McpStyle::Stateless {
                    out.extend_from_slice(b",\"_meta\":");
                    out.extend_from_slice(MODERN_META.as_bytes());
                }
                out.push(b'}');
            }
        }
        out.extend_from_slice(b",\"id\":");
        serde_json::to_writer(&mut *out, &id)?;
        out.push(b'}');
        Ok(())
    }

    fn message(
        &self,
        envelope: &Envelope,
        method: Method,
        body: &impl Fn(&mut Vec<u8>) -> serde_json::Result<()>,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let row = method.row();
        // A bare message must name its type, even if its row has none.
        let message_type = if self.frame() == Frame::Bare { row.message.or(Some(row.name)) } else { row.message };
        if self.wants_colon()
            && envelope.sender.role() == Some(Role::Manager)
            && let Ok(sender) = COLON_SENDER.parse::<Sender>()
        {
            let envelope = Envelope { sender, ..envelope.clone() };
            return splice(message_type, &envelope, out, body);
        }
        splice(message_type, envelope, out, body)
    }

    fn arguments(
        &self,
        method: Method,
        message: impl Fn(&mut Vec<u8>) -> serde_json::Result<()>,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        match self.shape_of(method) {
            ArgumentShape::Whole => message(out),
            ArgumentShape::Under(key) => {
                out.push(b'{');
                serde_json::to_writer(&mut *out, key)?;
                out.push(b':');
                message(out)?;
                out.push(b'}');
                Ok(())
            }
            ArgumentShape::Fields(fields) => {
                let mut whole = Vec::with_capacity(1024);
                message(&mut whole)?;
                let mut kept: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_slice(&whole)?;
                kept.retain(|name, _| fields.iter().any(|field| field.as_str() == name));
                serde_json::to_writer(out, &kept)
            }
        }
    }
}
