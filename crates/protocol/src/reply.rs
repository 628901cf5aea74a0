//! Typed answer in, bytes out: in the frame the question came in.
//!
//! A message is written as its envelope with the body's own JSON spliced in behind it: one object, one pass, no copies.

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
    /// The call, where it was understood.
    pub method: Option<Method>,
}

impl ReplyTo {
    /// Whether anybody waits for an answer: a JSON-RPC notification is answered with nothing.
    pub fn expects_answer(&self) -> bool {
        !(self.frame.is_rpc() && self.id == RequestId::Absent)
    }

    /// Writes `body` as the answer.
    pub fn answer<B: Serialize>(&self, envelope: &Envelope, body: &B, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.answer_ending(envelope, body, "", out)
    }

    /// Writes `body` as the answer. A tool's result ends with `tail`: the fields that a revision of MCP wants there, as
    /// JSON that begins with a comma. Other frames have no place for them.
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

    /// Writes `fault` as the answer.
    pub fn refuse(&self, envelope: &Envelope, fault: &RequestError, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.refuse_ending(envelope, fault, "", out)
    }

    /// Writes `fault` as the answer; what is the result of a tool ends with `tail`.
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
            // What concerns the call itself is an error of the protocol; what concerns its arguments, a result of the tool.
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
        // JSON from our own serialiser is UTF-8; lossy costs nothing then.
        serde_json::to_writer(&mut *out, &String::from_utf8_lossy(message))?;
        match outcome {
            // Only as text: clients hold structured content against the tool's output schema, even that of an error.
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

/// Writes a message: envelope and body as one object.
pub fn write_message<B: Serialize>(
    message_type: Option<&str>,
    envelope: &Envelope,
    body: &B,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    splice(message_type, envelope, out, |out| serde_json::to_writer(out, body))
}

/// Writes the envelope, then lets `write_body` append an object, and joins the two.
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

/// Appends the fields of an object to an object that is still open.
fn append(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>) -> serde_json::Result<()> {
    let joint = out.len();
    write(out)?;
    // What was written is `{…}`: its first brace becomes the comma, its last one goes. An empty object leaves no trace.
    if out.get(joint + 1) == Some(&b'}') {
        out.truncate(joint);
    } else if let Some(brace) = out.get_mut(joint) {
        *brace = b',';
        out.pop();
    }
    Ok(())
}
