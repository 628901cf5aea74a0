//! Reads a request in any frame; the shape of the JSON tells the frame.
//!
//! A method of MCP contains `/` or is `initialize` or `ping`; a league method never is, so they cannot collide.
//! The canonical form is read in one pass; in other forms the parts stay raw at first. Errors are explained in a second pass.

mod canonical;

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::dialect::MAX_NAME;
use crate::envelope::{EnvelopeRule, EnvelopeSplitter, ReceivedEnvelope};
use crate::error::{ErrorCode, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, RequestError};
use crate::frame::{Frame, RequestId};
use crate::lenient::Field;
use crate::message::query::QueryType;
use crate::quirk::{Quirk, Quirks};
use crate::reply::ReplyTo;
use crate::sender::Role;
use crate::table::{Access, Call, Method, MethodSpelling, TABLE};

pub const MAX_BODY: usize = 64 * 1024;

/// In characters. A reason may quote the request.
const MAX_REASON: usize = 300;

const VERSION: &str = "\"2.0\"";

/// The course's method that dispatches on the message type. Every other unknown method does so too.
pub const DISPATCH: &str = "mcp_message";

pub enum Incoming<'a> {
    Call(Box<Request<'a>>),
    /// Any MCP method except `tools/call`.
    Mcp(McpRequest<'a>),
    /// The caller reads each entry separately.
    Batch(Vec<&'a RawValue>),
}

#[derive(Clone)]
pub struct Request<'a> {
    pub call: Call,
    pub head: ReceivedEnvelope,
    pub frame: Frame,
    pub id: RequestId,
    pub spelling: MethodSpelling,
    /// The method name, if the message type decided and no row has that name.
    pub one_name: Option<SmolStr>,
    pub meta: Option<&'a RawValue>,
}

#[derive(Clone)]
pub struct McpRequest<'a> {
    pub method: SmolStr,
    pub id: RequestId,
    pub params: Option<&'a RawValue>,
}

#[derive(Clone, Debug)]
pub struct Refused {
    pub fault: RequestError,
    pub reply_to: ReplyTo,
    /// As far as it was read. The answer echoes its conversation.
    pub head: ReceivedEnvelope,
}

impl Refused {
    /// A refusal before any call was recognised.
    fn early(fault: RequestError, frame: Frame, id: RequestId) -> Box<Self> {
        let reply_to = ReplyTo { frame, id, method: None };
        Box::new(Self { fault, reply_to, head: ReceivedEnvelope::default() })
    }
}

/// Raw parts may hold a token and are not shown.
impl fmt::Debug for Incoming<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(request) => fmt::Debug::fmt(request, f),
            Self::Mcp(request) => fmt::Debug::fmt(request, f),
            Self::Batch(parts) => write!(f, "Batch of {}", parts.len()),
        }
    }
}

impl fmt::Debug for McpRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpRequest").field("method", &self.method).field("id", &self.id).finish_non_exhaustive()
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, head, frame, id, spelling, one_name, meta: _ } = self;
        let mut shown = f.debug_struct("Request");
        shown.field("call", call).field("head", head).field("frame", frame).field("id", id);
        shown.field("spelling", spelling).field("one_name", one_name).finish_non_exhaustive()
    }
}

impl Request<'_> {
    pub fn method(&self) -> Method {
        self.call.method()
    }

    pub fn reply_to(&self) -> ReplyTo {
        ReplyTo { frame: self.frame, id: self.id.clone(), method: Some(self.method()) }
    }

    /// Requests to the manager must be complete. Registration is lenient, as are players, referees, and tools that are called with flat
    /// fields. `strict` makes every quirk an error.
    pub fn check(&self, strict: bool) -> Result<Quirks, RequestError> {
        let row = self.method().row();
        let flat_tool = self.frame == Frame::Tool
            && matches!((&self.head.protocol, &self.head.message_type), (Field::Absent, Field::Absent));
        let demanding = row.to == [Role::Manager] && matches!(row.access, Access::Token) && !flat_tool;
        let demand = if strict || demanding { EnvelopeRule::Complete } else { EnvelopeRule::Lenient };
        let mut quirks = self.head.check(self.method(), demand)?;
        quirks.extend(match self.frame {
            Frame::Typed => Some(Quirk::TypeAsMethod),
            Frame::Bare => Some(Quirk::BareMessage),
            Frame::Nested => Some(Quirk::NestedMessage),
            Frame::Direct | Frame::Tool | Frame::Register => None,
        });
        let of_its_own = self.one_name.as_ref().is_some_and(|name| name != DISPATCH);
        if of_its_own || matches!(self.spelling, MethodSpelling::Alias(_)) {
            quirks.note(Quirk::AliasMethod);
        }
        let registrant = if let Call::RegisterPlayer(request) = &self.call {
            Some((&request.player_meta, request.quirks, "player_meta.protocol_version"))
        } else if let Call::RegisterReferee(request) = &self.call {
            Some((&request.referee_meta, request.quirks, "referee_meta.protocol_version"))
        } else {
            None
        };
        if let Some((meta, odd, field)) = registrant {
            quirks.extend(odd.iter());
            if !meta.speaks_our_protocol() {
                let message = "this league speaks protocol version 2.0.0 or later: write your agent for league.v2";
                return Err(RequestError::new(ErrorCode::E018, self.method(), message).about(field));
            }
        }
        match quirks.iter().next().filter(|_| strict) {
            None => Ok(quirks),
            Some(quirk) => {
                let message = format!("a strict league refuses {quirk}; {}", quirk.advice());
                Err(RequestError::new(quirk.code(), self.method(), message))
            }
        }
    }
}

#[derive(Deserialize)]
struct Outer<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(default)]
    id: RequestId,
    #[serde(borrow, default)]
    message_type: Option<&'a RawValue>,
}

/// Keeps null apart from absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

pub fn read(body: &[u8]) -> Result<Incoming<'_>, Box<Refused>> {
    let refuse = |fault| Refused::early(fault, Frame::Direct, RequestId::Null);
    if body.len() > MAX_BODY {
        let message = format!("a request has at most {MAX_BODY} bytes, this one has {}", body.len());
        return Err(refuse(RequestError::rpc(INVALID_REQUEST, message)));
    }
    let text = std::str::from_utf8(body).map_err(|_| refuse(RequestError::rpc(PARSE_ERROR, "a request is UTF-8")))?;
    if text.trim_ascii_start().starts_with('[') {
        let parts: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| refuse(not_json(&error)))?;
        return if parts.is_empty() {
            Err(refuse(RequestError::rpc(INVALID_REQUEST, "a batch has at least one request")))
        } else {
            Ok(Incoming::Batch(parts))
        };
    }
    if let Some(call) = canonical::read(text) {
        return Ok(call);
    }
    let outer: Outer<'_> = serde_json::from_str(text).map_err(|error| refuse(not_json(&error)))?;
    read_outer(text, outer)
}

/// Reads only the outer object, for checks of MCP's `_meta` or of a tool's name.
pub fn outline(body: &[u8]) -> Option<McpRequest<'_>> {
    let Outer { method, params, id, .. } = serde_json::from_slice(body).ok()?;
    Some(McpRequest { method: SmolStr::new(method?), id, params })
}

/// Reads the flat fields of a player, posted to `/register`.
pub fn read_registration(body: &[u8]) -> Result<Request<'_>, Box<Refused>> {
    let reply_to = ReplyTo { frame: Frame::Register, id: RequestId::Null, method: Some(Method::RegisterPlayer) };
    let refuse = |fault, head| Box::new(Refused { fault, reply_to: reply_to.clone(), head });
    if body.len() > MAX_BODY {
        return Err(refuse(
            RequestError::rpc(INVALID_REQUEST, "the registration is too long"),
            ReceivedEnvelope::default(),
        ));
    }
    let message: &RawValue =
        serde_json::from_slice(body).map_err(|error| refuse(not_json(&error), ReceivedEnvelope::default()))?;
    let message = unwrapped(message.get());
    let Parts { call, head, .. } = read_parts(Method::RegisterPlayer, message);
    let (frame, id, spelling) = (Frame::Register, RequestId::Null, MethodSpelling::Dispatch);
    match call {
        Ok(call) => Ok(Request { call, head, frame, id, spelling, one_name: None, meta: None }),
        Err(fault) => Err(refuse(fault, head)),
    }
}

/// Some players put the registration under `data`.
fn unwrapped(message: &str) -> &str {
    #[derive(Deserialize)]
    struct Wrapped<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
    }
    let wrapped = serde_json::from_str::<Wrapped<'_>>(message).ok().map(|wrapped| wrapped.data.get());
    wrapped.filter(|data| data.starts_with('{')).unwrap_or(message)
}

fn not_json(error: &serde_json::Error) -> RequestError {
    match error.classify() {
        serde_json::error::Category::Data => {
            RequestError::rpc(INVALID_REQUEST, format!("not a JSON-RPC request: {}", without_place(error)))
        }
        serde_json::error::Category::Syntax | serde_json::error::Category::Eof | serde_json::error::Category::Io => {
            RequestError::rpc(PARSE_ERROR, format!("not JSON: {error}"))
        }
    }
}

fn read_outer<'a>(text: &'a str, outer: Outer<'a>) -> Result<Incoming<'a>, Box<Refused>> {
    let Outer { jsonrpc, method, params, id, message_type } = outer;
    if let Some(version) = jsonrpc.filter(|version| version.get() != VERSION) {
        let message = format!("jsonrpc is {}, and must be {VERSION}", clipped(version.get()));
        return Err(Refused::early(RequestError::rpc(INVALID_REQUEST, message), Frame::Direct, id));
    }
    let Some(name) = method else {
        return read_bare(text, id, message_type);
    };
    if name == "tools/call" {
        return read_tool(params, id);
    }
    if is_mcp(&name) {
        return Ok(Incoming::Mcp(McpRequest { method: SmolStr::new(name), id, params }));
    }
    let message = params.map_or("{}", RawValue::get);
    let Some((method, spelling)) = Method::named(&name).or_else(|| dispatched(params)) else {
        return Err(Refused::early(unknown_method(&name), Frame::Direct, id));
    };
    let frame = if spelling == MethodSpelling::MessageType { Frame::Typed } else { Frame::Direct };
    finish(method, message, Form { frame, id, spelling, one_name: one_name(spelling, &name), meta: None })
}

fn one_name(spelling: MethodSpelling, name: &str) -> Option<SmolStr> {
    (spelling == MethodSpelling::Dispatch && name.len() <= MAX_NAME).then(|| SmolStr::new(name))
}

fn is_mcp(method: &str) -> bool {
    method.contains('/') || matches!(method, "initialize" | "ping")
}

struct Form<'a> {
    frame: Frame,
    id: RequestId,
    spelling: MethodSpelling,
    one_name: Option<SmolStr>,
    meta: Option<&'a RawValue>,
}

fn finish<'a>(method: Method, message: &'a str, form: Form<'a>) -> Result<Incoming<'a>, Box<Refused>> {
    let Form { mut frame, id, spelling, one_name, meta } = form;
    let mut read = read_parts(method, message);
    let nested = read.nested.filter(|nested| frame.is_rpc() && nested.get().starts_with('{'));
    if let Some(nested) = nested {
        // A tool call is answered as a tool, wherever the message was.
        if frame != Frame::Tool {
            frame = Frame::Nested;
        }
        read = read_parts(method, nested.get());
    }
    match read.call {
        Ok(call) => {
            let request = Request { call, head: read.head, frame, id, spelling, one_name, meta };
            Ok(Incoming::Call(Box::new(request)))
        }
        Err(fault) => {
            let reply_to = ReplyTo { frame, id, method: Some(method) };
            Err(Box::new(Refused { fault, reply_to, head: read.head }))
        }
    }
}

fn read_bare<'a>(
    text: &'a str,
    id: RequestId,
    message_type: Option<&'a RawValue>,
) -> Result<Incoming<'a>, Box<Refused>> {
    let named = message_type.and_then(|raw| serde_json::from_str::<Cow<'_, str>>(raw.get()).ok());
    let Some(name) = named else {
        let message = "neither a JSON-RPC method nor a message_type says what is asked";
        return Err(Refused::early(RequestError::rpc(INVALID_REQUEST, message), Frame::Direct, id));
    };
    let (frame, id, spelling) = (Frame::Bare, RequestId::Null, MethodSpelling::Dispatch);
    match Method::named(&name) {
        Some((method, _)) => finish(method, text, Form { frame, id, spelling, one_name: None, meta: None }),
        None => Err(Refused::early(unknown_method(&name), frame, id)),
    }
}

fn read_tool(params: Option<&RawValue>, id: RequestId) -> Result<Incoming<'_>, Box<Refused>> {
    let named = params.map(RawValue::get).filter(|params| params.starts_with('{'));
    let Some(call) = named.and_then(|params| serde_json::from_str::<ToolCall<'_>>(params).ok()) else {
        let message = "tools/call takes an object with the tool's name and its arguments";
        return Err(Refused::early(RequestError::rpc(INVALID_PARAMS, message), Frame::Tool, id));
    };
    let Some((method, spelling)) = Method::named(&call.name).or_else(|| dispatched(call.arguments)) else {
        let message = format!("there is no tool {:?} here; tools/list names them all", clipped(&call.name));
        return Err(Refused::early(RequestError::rpc(INVALID_PARAMS, message), Frame::Tool, id));
    };
    let form = Form { frame: Frame::Tool, id, spelling, one_name: one_name(spelling, &call.name), meta: call.meta };
    finish(method, call.arguments.map_or("{}", RawValue::get), form)
}

fn dispatched(params: Option<&RawValue>) -> Option<(Method, MethodSpelling)> {
    #[derive(Deserialize)]
    struct Typed<'a> {
        #[serde(borrow, default)]
        message_type: Option<&'a RawValue>,
        #[serde(borrow, default)]
        message: Option<&'a RawValue>,
    }
    impl<'a> Typed<'a> {
        /// A derived reader would also accept a list as fields in order.
        fn read(raw: &'a RawValue) -> Option<Self> {
            let object = Some(raw.get()).filter(|text| text.starts_with('{'))?;
            serde_json::from_str(object).ok()
        }
    }
    let named = |message_type: Option<&RawValue>| {
        let name = serde_json::from_str::<Cow<'_, str>>(message_type?.get()).ok()?;
        Method::named(&name).map(|(method, _)| (method, MethodSpelling::Dispatch))
    };
    let outer = Typed::read(params?)?;
    named(outer.message_type).or_else(|| named(Typed::read(outer.message?)?.message_type))
}

fn unknown_method(name: &str) -> RequestError {
    let near = TABLE.iter().map(|row| row.name).find(|known| {
        let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_', '.'], "");
        plain(known) == plain(name)
    });
    let hint = match near {
        Some(known) => format!("did you mean {known}?"),
        None => String::from("see the call table"),
    };
    RequestError::rpc(METHOD_NOT_FOUND, format!("there is no method {:?} here; {hint}", clipped(name)))
}

fn clipped(text: &str) -> &str {
    text.char_indices().nth(64).map_or(text, |(end, _)| &text[..end])
}

struct Parts<'a> {
    call: Result<Call, RequestError>,
    head: ReceivedEnvelope,
    nested: Option<&'a RawValue>,
}

fn read_parts(method: Method, message: &str) -> Parts<'_> {
    let (mut head, mut nested) = (ReceivedEnvelope::default(), None);
    let message = if message == "null" { "{}" } else { message };
    let seed = MessageSeed { method, head: &mut head, nested: &mut nested };
    let mut reader = serde_json::Deserializer::from_str(message);
    let call = match seed.deserialize(&mut reader) {
        Ok(call) => Ok(call),
        Err(error) => {
            // The reader stopped at the error, but the rest may hold envelope fields.
            (head, nested) = (ReceivedEnvelope::default(), None);
            Err(explain(method, message, &error, &mut head, &mut nested))
        }
    };
    Parts { call, head, nested }
}

struct MessageSeed<'h, 'de> {
    method: Method,
    head: &'h mut ReceivedEnvelope,
    nested: &'h mut Option<&'de RawValue>,
}

impl<'de> DeserializeSeed<'de> for MessageSeed<'_, 'de> {
    type Value = Call;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Call, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for MessageSeed<'_, 'de> {
    type Value = Call;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message: an object with named fields")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Call, A::Error> {
        Call::read(self.method, map, self.head, self.nested)
    }
}

struct HeadSeed<'h, 'de> {
    head: &'h mut ReceivedEnvelope,
    nested: &'h mut Option<&'de RawValue>,
}

impl<'de> Visitor<'de> for HeadSeed<'_, 'de> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        EnvelopeSplitter::read::<IgnoredAny>(map, self.head, self.nested).map(|_| ())
    }
}

/// Reports a protocol error before a field error.
fn explain<'a>(
    method: Method,
    message: &'a str,
    error: &serde_json::Error,
    head: &mut ReceivedEnvelope,
    nested: &mut Option<&'a RawValue>,
) -> RequestError {
    let whole = serde_json::Deserializer::from_str(message).deserialize_map(HeadSeed { head, nested });
    if whole.is_err() {
        return invalid(None, &without_place(error), method);
    }
    // A message of another protocol is not checked further.
    if let Err(fault) = head.check(method, EnvelopeRule::Lenient) {
        return fault;
    }
    let mut track = serde_path_to_error::Track::new();
    let mut reader = serde_json::Deserializer::from_str(message);
    let body = Call::body(method, serde_path_to_error::Deserializer::new(&mut reader, &mut track));
    let reason = body.err().map_or_else(|| without_place(error), |inner| without_place(&inner));
    let field = blamed(&reason, &track.path().to_string());
    let fault = invalid(field.as_deref(), &reason, method);
    if method == Method::LeagueQuery && field.as_deref() == Some("query_type") {
        let known: Vec<_> = QueryType::ALL.iter().filter_map(|query| serde_json::to_string(query).ok()).collect();
        let (found, _) = fault.message.split_once(';').unwrap_or((&fault.message, ""));
        let message = format!("{found}; send one of {}", known.join(", "));
        return RequestError { message, ..fault }.numbered(6002);
    }
    fault
}

/// E003 for a missing field, E002 for a wrong one. A reason that begins with the field's name in backquotes is a complete sentence of
/// ours; others come from serde.
fn invalid(field: Option<&str>, reason: &str, method: Method) -> RequestError {
    let name = field.unwrap_or("the message");
    let wrong = reason
        .strip_prefix("invalid type: ")
        .or(reason.strip_prefix("invalid value: "))
        .or(reason.strip_prefix("unknown variant "));
    let (code, message) = if let Some(rest) = reason.strip_prefix("missing field `") {
        let advice = rest.split_once("`: ").map_or("send it", |(_, advice)| advice);
        (ErrorCode::E003, format!("{name} is missing; {advice}"))
    } else if let Some((found, expected)) = wrong.and_then(|wrong| wrong.split_once(", expected ")) {
        (ErrorCode::E002, format!("{name} is {found}; send {expected}"))
    } else if reason.starts_with('`') {
        (ErrorCode::E002, reason.replace('`', ""))
    } else {
        (ErrorCode::E002, format!("{name} is not valid: {reason}; send it in that form"))
    };
    let fault = RequestError::new(code, method, message);
    match field {
        Some(field) => fault.about(field),
        None => fault,
    }
}

fn blamed(reason: &str, path: &str) -> Option<String> {
    let place = Some(path).filter(|path| *path != ".");
    let named =
        reason.strip_prefix("missing field `").or(reason.strip_prefix('`')).and_then(|rest| rest.split('`').next());
    match (place, named) {
        (Some(place), Some(named)) => Some(format!("{place}.{named}")),
        (Some(place), None) => Some(place.to_owned()),
        (None, named) => named.map(str::to_owned),
    }
}

/// Shortened and without line and column, which mean nothing for a one-line message.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    reason.chars().take(MAX_REASON).collect()
}
