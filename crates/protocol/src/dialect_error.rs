//! What an answer that was not understood says about the form that the peer expects. Servers report this as JSON-RPC numbers, SDK
//! messages or a web framework's list of missing fields. Errors about a token, a state or the time say nothing about the form.

use serde_json::Value;
use smol_str::SmolStr;

use crate::answer::{ParsedAnswer, PeerError};
use crate::dialect::PeerDialect;
use crate::error::{INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND};
use crate::frame::Frame;
use crate::table::Method;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DialectError {
    /// A standard MCP server that wants a handshake, a session, or another revision.
    Mcp,
    /// Unknown method; the error may mention the right name.
    UnknownName(Option<SmolStr>),
    /// Expects the message alone: frame D.
    WantsBare,
    /// Expects the message in `params.message`: frame E.
    WantsMessage,
    WantsRpc,
    WantsColon,
    BadArguments,
    NoSuchPlace,
    /// No evidence, perhaps an acknowledgement or free text.
    Nothing,
    /// No other form would help.
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NonJsonKind {
    Document,
    /// Only MCP servers send a stream of events.
    Stream,
}

impl DialectError {
    pub fn read(dialect: &PeerDialect, method: Method, status: u16, kind: NonJsonKind, body: &[u8]) -> Self {
        let whole: Option<Value> = serde_json::from_slice(body).ok();
        if let Some(fields) = whole.as_ref().and_then(missing_fields) {
            return Self::of_fields(&fields);
        }
        let error = ParsedAnswer::parse(body).ok().and_then(|layers| layers.error());
        let detail = whole.as_ref().and_then(|whole| whole.get("detail")).and_then(Value::as_str);
        let plain = if whole.is_none() { std::str::from_utf8(body).ok() } else { None };
        match (error, detail.or(plain)) {
            (Some(error), _) => Self::of_error(dialect, method, status, kind, &error),
            (None, Some(words)) => {
                let words = words.chars().take(400).collect();
                let error = PeerError { words, ..PeerError::default() };
                let found = Self::of_error(dialect, method, status, kind, &error);
                if found == Self::Other { Self::of_status(status) } else { found }
            }
            (None, None) => Self::of_status(status),
        }
    }

    fn of_status(status: u16) -> Self {
        match status {
            404 | 405 => Self::NoSuchPlace,
            406 | 415 => Self::Mcp,
            422 => Self::BadArguments,
            401..=403 | 407..=421 | 423..=499 => Self::Other,
            _ => Self::Nothing,
        }
    }

    /// A web framework lists the paths of missing fields.
    fn of_fields(places: &[Vec<String>]) -> Self {
        let has = |name: &str| places.iter().any(|place| place.last().is_some_and(|last| last == name));
        if places.iter().any(|place| place.ends_with(&["params".into(), "message".into()])) {
            Self::WantsMessage
        } else if has("jsonrpc") || has("method") {
            Self::WantsRpc
        } else if has("message_type") {
            Self::WantsBare
        } else if has("message") {
            Self::WantsMessage
        } else if has("name") || has("arguments") {
            Self::Mcp
        } else {
            Self::BadArguments
        }
    }

    fn of_error(dialect: &PeerDialect, method: Method, status: u16, kind: NonJsonKind, error: &PeerError) -> Self {
        let words = error.words.to_ascii_lowercase();
        let says = |any: &[&str]| any.iter().any(|word| words.contains(word));
        let number = |code: i32| error.number == Some(code.into());
        // A peer that answers with a league code has read the message.
        if error.code.is_some() {
            return Self::Other;
        }
        if error.number.is_some_and(|number| (-32022..=-32020).contains(&number))
            || says(&["session", "not initialized", "initialization", "not acceptable", "protocol version", "_meta"])
        {
            return Self::Mcp;
        }
        if dialect.frame() == Frame::Bare && (number(INVALID_REQUEST) || says(&["jsonrpc", "json-rpc", "no method"])) {
            return Self::WantsRpc;
        }
        if matches!(status, 400 | 406 | 415) && number(INVALID_REQUEST) {
            return Self::Mcp;
        }
        let untyped = ["missing message_type", "message_type is", "'message_type'", "type: none", "type none"];
        if says(&untyped) {
            return Self::WantsBare;
        }
        let unknown = ["method not found", "unknown method", "unsupported method", "unknown message", "no such method"];
        let tool = ["unknown tool", "tool not found", "unsupported message", "not implemented", "no such tool"];
        if number(METHOD_NOT_FOUND) || says(&unknown) || says(&tool) {
            let other = other_name(dialect, method, &error.words);
            return match (kind, dialect.frame()) {
                (NonJsonKind::Stream, Frame::Direct | Frame::Typed | Frame::Bare | Frame::Nested) => Self::Mcp,
                (NonJsonKind::Stream | NonJsonKind::Document, _) => Self::UnknownName(other),
            };
        }
        let shape = ["validation error", "invalid params", "required", "missing", "unexpected keyword", "field"];
        let named = ["'message'", "\"message\"", "`message`", "params.message"];
        let keyed = words.trim() == "'message'" || words.contains("keyerror");
        if number(INVALID_PARAMS) || number(INVALID_REQUEST) || says(&shape) || keyed || says(&named) {
            return if says(&named) || says(&["missing message", "message is required", "message required"]) {
                Self::WantsMessage
            } else if says(&["jsonrpc", "json-rpc"]) {
                Self::WantsRpc
            } else if says(&["sender"]) {
                Self::WantsColon
            } else if number(INVALID_REQUEST) {
                Self::Other
            } else {
                Self::BadArguments
            };
        }
        Self::Other
    }
}

fn other_name(dialect: &PeerDialect, method: Method, words: &str) -> Option<SmolStr> {
    let row = method.row();
    let tried = dialect.name_of(method);
    let names = std::iter::once(&row.name).chain(row.aliases).chain(&row.message);
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mentioned = |name: &&&str| words.split(|c| !word(c)).any(|found| found == **name);
    names.into_iter().filter(|name| **name != tried).find(mentioned).map(|name| SmolStr::new_static(name))
}

/// Reads `{"detail": [{"loc": ["body", "message_type"], …}]}`.
fn missing_fields(body: &Value) -> Option<Vec<Vec<String>>> {
    let list = body.get("detail")?.as_array()?;
    let place = |entry: &Value| -> Option<Vec<String>> {
        let place = entry.get("loc")?.as_array()?;
        Some(place.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    };
    Some(list.iter().filter_map(place).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_bytes(dialect: &PeerDialect, status: u16, kind: NonJsonKind, body: &[u8]) -> DialectError {
        DialectError::read(dialect, Method::GameInvitation, status, kind, body)
    }

    fn read(status: u16, body: &Value) -> DialectError {
        read_text(status, &body.to_string())
    }

    fn read_text(status: u16, body: &str) -> DialectError {
        read_bytes(&PeerDialect::default(), status, NonJsonKind::Document, body.as_bytes())
    }

    fn rpc(code: i64, message: &str) -> Value {
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": message}})
    }

    #[test]
    fn errors_of_standard_mcp_servers_are_recognised() {
        for (status, code, words) in [
            (400, -32600, "Bad Request: Missing session ID"),
            (406, -32600, "Not Acceptable: Client must accept both application/json and text/event-stream"),
            (400, -32600, "Bad Request: this server speaks 2026-07-28 only"),
            (400, -32602, "Invalid params: _meta with the protocol version is missing"),
            (400, -32022, "Unsupported protocol version"),
            (200, -32602, "Received request before initialization was complete"),
        ] {
            assert_eq!(read(status, &rpc(code, words)), DialectError::Mcp, "{words}");
        }
        assert_eq!(read_text(415, "what is this?"), DialectError::Mcp);
        let error = rpc(-32601, "Method not found").to_string();
        let streamed = read_bytes(&PeerDialect::default(), 200, NonJsonKind::Stream, error.as_bytes());
        assert_eq!(streamed, DialectError::Mcp);
    }

    #[test]
    fn an_unknown_name_error_may_mention_the_right_name() {
        for (body, mentioned) in [
            (rpc(-32601, "Method not found: handle_game_invitation"), None),
            (json!({"error": "Unknown method"}), None),
            (rpc(-32601, "unknown method; known: receive_game_invitation, ping"), Some("receive_game_invitation")),
            (rpc(-32601, "expected GAME_INVITATION"), Some("GAME_INVITATION")),
            (json!({"result": {"isError": true, "content": [{"type": "text", "text": "Unknown tool: x"}]}}), None),
        ] {
            assert_eq!(read(200, &body), DialectError::UnknownName(mentioned.map(SmolStr::new)), "{body}");
        }
    }

    #[test]
    fn a_list_of_missing_fields_names_the_frame() {
        let missing = |place: Value| read(422, &json!({"detail": [{"type": "missing", "loc": place, "input": {}}]}));
        assert_eq!(missing(json!(["body", "message_type"])), DialectError::WantsBare);
        assert_eq!(missing(json!(["body", "params", "message"])), DialectError::WantsMessage);
        assert_eq!(missing(json!(["body", "jsonrpc"])), DialectError::WantsRpc);
        assert_eq!(missing(json!(["body", "params", "deadline"])), DialectError::BadArguments);
    }

    #[test]
    fn an_error_about_a_field_names_the_frame() {
        for (words, dialect_error) in [
            ("Invalid params: 'message' is a required property", DialectError::WantsMessage),
            ("missing message", DialectError::WantsMessage),
            ("message_type is required", DialectError::WantsBare),
            ("Invalid params: sender must be type:id", DialectError::WantsColon),
            ("Invalid params", DialectError::BadArguments),
        ] {
            assert_eq!(read(200, &rpc(-32602, words)), dialect_error, "{words}");
        }
        assert_eq!(read(500, &json!({"error": "'message'"})), DialectError::WantsMessage);
        assert_eq!(read(500, &json!({"error": "KeyError: 'message_type'"})), DialectError::WantsBare);
    }

    #[test]
    fn league_and_state_errors_need_no_other_dialect() {
        let league = json!({"error": {"code": -32001, "message": "no", "data": {"error_code": "E012"}}});
        for body in [
            league,
            rpc(-32000, "Invalid state: still in another match"),
            rpc(-32603, "internal error"),
            rpc(-32600, "Invalid Request: id must be an integer"),
        ] {
            assert_eq!(read(200, &body), DialectError::Other, "{body}");
        }
        assert_eq!(read(401, &json!({"detail": "who are you?"})), DialectError::Other);
    }

    #[test]
    fn an_acknowledgement_or_a_crash_gives_no_hint_of_the_dialect() {
        assert_eq!(read(200, &json!({"status": "ok"})), DialectError::Nothing);
        assert_eq!(read(200, &json!({"result": {"status": "received"}})), DialectError::Nothing);
        assert_eq!(read_text(500, "Internal Server Error"), DialectError::Nothing);
        assert_eq!(read_text(404, "Not Found"), DialectError::NoSuchPlace);
    }

    #[test]
    fn a_peer_may_ask_for_json_rpc_after_a_bare_message() {
        let body = rpc(-32600, "Invalid Request: no method").to_string();
        let bare = PeerDialect::from(Frame::Bare);
        assert_eq!(read_bytes(&bare, 400, NonJsonKind::Document, body.as_bytes()), DialectError::WantsRpc);
    }
}
