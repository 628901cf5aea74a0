//! Reads the canonical form in one pass: JSON-RPC with `method` before `params`.
//! Anything else, right or wrong, is left to the general reader, which explains errors.

use std::fmt;

use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Incoming, MessageSeed, Request, VERSION, is_mcp};
use crate::envelope::ReceivedEnvelope;
use crate::frame::{Frame, RequestId};
use crate::table::{Call, Method, MethodSpelling};

pub(super) fn read(text: &str) -> Option<Incoming<'_>> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let request = reader.deserialize_map(Canonical).ok()?;
    reader.end().ok()?;
    Some(Incoming::Call(Box::new(request)))
}

/// Stops this reader; the caller ignores the error.
fn other_form<E: Error>() -> E {
    E::custom("not the canonical form")
}

struct Canonical;

impl<'de> Visitor<'de> for Canonical {
    type Value = Request<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC request")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Request<'de>, A::Error> {
        let (mut head, mut nested) = (ReceivedEnvelope::default(), None::<&RawValue>);
        let (mut method, mut id, mut call) = (None::<Method>, None::<RequestId>, None::<Call>);
        while let Some(key) = map.next_key::<&str>()? {
            match (key, method) {
                ("jsonrpc", _) => {
                    if map.next_value::<&RawValue>()?.get() != VERSION {
                        return Err(other_form());
                    }
                }
                ("method", None) => method = Some(named(map.next_value()?).ok_or_else(other_form)?),
                ("params", Some(method)) if call.is_none() => {
                    let seed = MessageSeed { method, head: &mut head, nested: &mut nested };
                    call = Some(map.next_value_seed(seed)?);
                }
                ("id", _) if id.is_none() => id = Some(map.next_value()?),
                _ => return Err(other_form()),
            }
        }
        match (call, nested) {
            (Some(call), None) => {
                let (frame, spelling, id) = (Frame::Direct, MethodSpelling::Name, id.unwrap_or_default());
                Ok(Request { call, head, frame, id, spelling, one_name: None, meta: None })
            }
            (Some(_) | None, _) => Err(other_form()),
        }
    }
}

fn named(name: &str) -> Option<Method> {
    match Method::named(name)? {
        (method, MethodSpelling::Name) if !is_mcp(name) => Some(method),
        (
            _,
            MethodSpelling::Name | MethodSpelling::Alias(_) | MethodSpelling::MessageType | MethodSpelling::Dispatch,
        ) => None,
    }
}
