//! The five frames of foreign agents. Each agent refuses every frame but its own.

use serde_json::{Value, json};

use crate::message::text;
use crate::names::Names;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Frame {
    /// A: JSON-RPC, the method is a name, the parameters are the message.
    Direct,
    /// B: JSON-RPC, the method is the type of the message.
    Types,
    /// C: MCP's `tools/call`, without any handshake.
    Tools,
    Bare,
    /// E: JSON-RPC, the message is in `params.message`.
    Nested,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FramedCall {
    pub(crate) id: Value,
    pub(crate) kind: String,
    pub(crate) message: Value,
}

/// Worded as the framework of the agent would word it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) code: i64,
    pub(crate) text: String,
}

impl Refusal {
    pub(crate) fn new(code: i64, text: impl Into<String>) -> Self {
        Self { status: 200, code, text: text.into() }
    }

    fn http(self, status: u16) -> Self {
        Self { status, ..self }
    }
}

impl Frame {
    pub const ALL: [Self; 5] = [Self::Direct, Self::Types, Self::Tools, Self::Bare, Self::Nested];

    pub fn request(self, kind: &str, names: &Names, id: u64, message: &Value) -> Value {
        let call =
            |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": method, "params": params, "id": id});
        match self {
            Self::Direct => call(names.name(kind), message.clone()),
            Self::Types => call(kind, message.clone()),
            Self::Tools => call("tools/call", json!({"name": names.name(kind), "arguments": message})),
            Self::Bare => message.clone(),
            Self::Nested => call(names.name(kind), json!({ "message": message })),
        }
    }

    pub(crate) fn read(self, body: &Value, names: &Names) -> Result<FramedCall, Refusal> {
        let id = body.get("id").cloned().unwrap_or_default();
        let params = body.get("params").cloned().unwrap_or_default();
        if self == Self::Bare {
            return bare(body, names);
        }
        let method = body.get("method").and_then(Value::as_str);
        let method = method.ok_or_else(|| Refusal::new(-32600, "Invalid Request: no method").http(400))?;
        let unknown = || Refusal::new(-32601, format!("Method not found: {method}"));
        if matches!(self, Self::Direct | Self::Types) && params.get("message").is_some_and(Value::is_object) {
            return Err(Refusal::new(-32602, "Invalid params: message_type is required"));
        }
        let (kind, message) = match self {
            Self::Direct => (names.kind(method).ok_or_else(unknown)?, params),
            Self::Types => {
                let known = names.knows(method).then_some(method);
                (known.ok_or_else(unknown)?, params)
            }
            Self::Tools if method == "tools/call" => {
                let name = text(&params, "name");
                let known = names.kind(name);
                let known = known.ok_or_else(|| Refusal::new(-32602, format!("Unknown tool: {name}")))?;
                (known, params.get("arguments").cloned().unwrap_or_default())
            }
            Self::Tools => return Err(unknown()),
            Self::Bare | Self::Nested => {
                let message = params.get("message").cloned();
                let missing = || Refusal::new(-32602, "Invalid params: 'message' is a required property");
                let message = message.ok_or_else(missing)?;
                (names.kind(method).ok_or_else(unknown)?, message)
            }
        };
        Ok(FramedCall { id, kind: kind.to_owned(), message })
    }

    pub(crate) fn answer(self, id: &Value, message: &Value) -> Value {
        match self {
            Self::Direct | Self::Types | Self::Nested => json!({"jsonrpc": "2.0", "result": message, "id": id}),
            Self::Tools => json!({"jsonrpc": "2.0", "id": id, "result": {
                "content": [{"type": "text", "text": message.to_string()}]}}),
            Self::Bare => message.clone(),
        }
    }

    pub(crate) fn refuse(self, id: &Value, refusal: &Refusal) -> (u16, Value) {
        let Refusal { status, code, text } = refusal;
        let error = json!({"jsonrpc": "2.0", "error": {"code": code, "message": text}, "id": id});
        match self {
            Self::Direct | Self::Types | Self::Nested => (*status, error),
            Self::Tools if *code == -32601 || *code == -32600 => (*status, error),
            Self::Tools => {
                let content = json!([{"type": "text", "text": text}]);
                (200, json!({"jsonrpc": "2.0", "id": id, "result": {"content": content, "isError": true}}))
            }
            Self::Bare if *status == 422 => {
                let detail = json!([{"type": "missing", "loc": ["body", "message_type"], "msg": text}]);
                (422, json!({ "detail": detail }))
            }
            Self::Bare => (400, json!({ "detail": text })),
        }
    }
}

/// As a web framework reads a body into a model: it ignores unknown fields and names missing ones.
fn bare(body: &Value, names: &Names) -> Result<FramedCall, Refusal> {
    let kind = text(body, "message_type");
    if kind.is_empty() {
        return Err(Refusal::new(-32600, "Field required").http(422));
    }
    if !names.knows(kind) {
        return Err(Refusal::new(-32602, format!("Unknown message type: {kind}")));
    }
    Ok(FramedCall { id: Value::Null, kind: kind.to_owned(), message: body.clone() })
}

/// Accepts any frame. `Err` is a refusal.
pub(crate) fn opened(answer: &Value) -> Result<Value, String> {
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        return Err(error.to_string());
    }
    let Some(result) = answer.get("result") else { return Ok(answer.clone()) };
    if result.get("isError") == Some(&Value::Bool(true)) {
        return Err(result.to_string());
    }
    if let Some(structured) = result.get("structuredContent").filter(|content| content.is_object()) {
        return Ok(structured.clone());
    }
    let block = result.pointer("/content/0/text").and_then(Value::as_str);
    Ok(block.and_then(|block| serde_json::from_str(block).ok()).unwrap_or_else(|| result.clone()))
}
