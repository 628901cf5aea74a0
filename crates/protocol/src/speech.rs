//! A call of ours on its way out, in the form that its peer understands.

use crate::frame::Frame;
use crate::head::Envelope;
use crate::reply::splice;
use crate::table::{Call, Spelling};

/// How a peer is spoken to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Form {
    /// The frame.
    pub frame: Frame,
    /// The spelling of methods.
    pub spelling: Spelling,
}

impl Default for Form {
    /// The canonical one.
    fn default() -> Self {
        Self { frame: Frame::Direct, spelling: Spelling::Name }
    }
}

impl Form {
    /// Writes `call` with an integer id, because several public players take no other.
    pub fn write(self, id: u64, envelope: &Envelope, call: &Call, out: &mut Vec<u8>) -> serde_json::Result<()> {
        let method = call.method();
        let name = match self.frame {
            Frame::Typed => method.spelled(Spelling::MessageType),
            Frame::Direct | Frame::Tool | Frame::Bare | Frame::Nested | Frame::Register => {
                method.spelled(self.spelling)
            }
        };
        let row = method.row();
        // A message that stands alone must say what it is, even where it has no type.
        let message_type = if self.frame == Frame::Bare { row.message.or(Some(row.name)) } else { row.message };
        let message = |out: &mut Vec<u8>| splice(message_type, envelope, out, |out| call.write_body(out));
        let (before, after): (&[&str], &str) = match self.frame {
            Frame::Direct | Frame::Typed => (&["{\"jsonrpc\":\"2.0\",\"method\":\"", name, "\",\"params\":"], ""),
            Frame::Nested => (&["{\"jsonrpc\":\"2.0\",\"method\":\"", name, "\",\"params\":{\"message\":"], "}"),
            Frame::Tool => (
                &["{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"", name, "\",\"arguments\":"],
                "}",
            ),
            Frame::Bare | Frame::Register => (&[], ""),
        };
        before.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
        message(out)?;
        out.extend_from_slice(after.as_bytes());
        if self.frame.is_rpc() {
            out.extend_from_slice(b",\"id\":");
            serde_json::to_writer(&mut *out, &id)?;
            out.push(b'}');
        }
        Ok(())
    }
}
