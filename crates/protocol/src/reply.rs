//! Writes an answer in the frame of its request. The body's JSON is spliced into the envelope's object without copies.

use serde::Serialize;

use crate::envelope::{Envelope, PROTOCOL};
use crate::error::RequestError;
use crate::frame::{Frame, RequestId};
use crate::message::league_error::LeagueError;
use crate::table::Method;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplyTo {
    pub frame: Frame,
    pub id: RequestId,
    pub method: Option<Method>,
}

impl ReplyTo {
    /// False for a JSON-RPC notification.
    pub fn expects_answer(&self) -> bool {
        !(self.frame.is_rpc() && self.id == RequestId::Absent)
    }

    pub fn answer<B: Serialize>(&self, envelope: &Envelope, body: &B, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.answer_ending(envelope, body, "", out)
    }

    /// `tail` holds the fields that an MCP revision requires at the end of a tool's result, as JSON that begins with a comma.
    pub fn answer_ending<B: Serialize>(
        &self,
        envelope: &Envelope,
        body: &B,
        tail: &str,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let message_type = self.method.and_then(|method| method.row().answer);
        match self.frame {
            Frame::Direct | Frame::Typed | Frame::Nested => {
                self.open(out)?;
                out.extend_from_slice(b",\"result\":");
                write_message(message_type, envelope, body, out)?;
                out.push(b'}');
            }
            Frame::Tool => {
                let message = message(message_type, envelope, body)?;
                self.tool_result(&message, Outcome::Success, tail, out)?;
            }
            Frame::Bare | Frame::Register => write_message(message_type, envelope, body, out)?,
        }
        Ok(())
    }

    pub fn refuse(&self, envelope: &Envelope, fault: &RequestError, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.refuse_ending(envelope, fault, "", out)
    }

    pub fn refuse_ending(
        &self,
        envelope: &Envelope,
        fault: &RequestError,
        tail: &str,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let original = self.method.map(|method| method.row().message.unwrap_or(method.row().name));
        let error = LeagueError::of(fault, original);
        match (self.frame, self.method) {
            // An unknown call is a protocol error; bad arguments are a tool result.
            (Frame::Tool, Some(_)) => {
                let message = message(Some("LEAGUE_ERROR"), envelope, &error)?;
                self.tool_result(&message, Outcome::Error, tail, out)
            }
            (Frame::Direct | Frame::Typed | Frame::Nested | Frame::Tool, _) => {
                self.open(out)?;
                out.extend_from_slice(b",\"error\":{\"code\":");
                serde_json::to_writer(&mut *out, &fault.rpc)?;
                out.extend_from_slice(b",\"message\":");
                serde_json::to_writer(&mut *out, &fault.headline())?;
                if fault.code.is_some() {
                    out.extend_from_slice(b",\"data\":");
                    write_message(Some("LEAGUE_ERROR"), envelope, &error, out)?;
                }
                out.extend_from_slice(b"}}");
                Ok(())
            }
            (Frame::Bare | Frame::Register, _) => write_message(Some("LEAGUE_ERROR"), envelope, &error, out),
        }
    }

    fn open(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        serde_json::to_writer(out, &self.id)
    }

    fn tool_result(&self, message: &[u8], outcome: Outcome, tail: &str, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.open(out)?;
        out.extend_from_slice(b",\"result\":{\"content\":[{\"type\":\"text\",\"text\":");
        // Our own serializer writes UTF-8, so this never replaces anything.
        serde_json::to_writer(&mut *out, &String::from_utf8_lossy(message))?;
        match outcome {
            // Text only: clients check structured content against the tool's output schema, even for an error.
            Outcome::Error => out.extend_from_slice(b"}],\"isError\":true"),
            Outcome::Success => {
                out.extend_from_slice(b"}],\"structuredContent\":");
                out.extend_from_slice(message);
                out.extend_from_slice(b",\"isError\":false");
            }
        }
        out.extend_from_slice(tail.as_bytes());
        out.extend_from_slice(b"}}");
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Success,
    Error,
}

fn message<B: Serialize>(message_type: Option<&str>, envelope: &Envelope, body: &B) -> serde_json::Result<Vec<u8>> {
    let mut message = Vec::with_capacity(512);
    write_message(message_type, envelope, body, &mut message)?;
    Ok(message)
}

pub fn write_message<B: Serialize>(
    message_type: Option<&str>,
    envelope: &Envelope,
    body: &B,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    splice(message_type, envelope, out, |out| serde_json::to_writer(out, body))
}

pub(crate) fn splice(
    message_type: Option<&str>,
    envelope: &Envelope,
    out: &mut Vec<u8>,
    write_body: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
) -> serde_json::Result<()> {
    out.extend_from_slice(b"{\"protocol\":\"");
    out.extend_from_slice(PROTOCOL.as_bytes());
    out.push(b'"');
    if let Some(name) = message_type {
        out.extend_from_slice(b",\"message_type\":\"");
        out.extend_from_slice(name.as_bytes());
        out.push(b'"');
    }
    append(out, |out| serde_json::to_writer(out, envelope))?;
    append(out, write_body)?;
    out.push(b'}');
    Ok(())
}

fn append(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>) -> serde_json::Result<()> {
    let joint = out.len();
    write(out)?;
    // The object's first brace becomes the comma and its last one is dropped. An empty object adds nothing.
    if out.get(joint + 1) == Some(&b'}') {
        out.truncate(joint);
    } else if let Some(brace) = out.get_mut(joint) {
        *brace = b',';
        out.pop();
    }
    Ok(())
}
