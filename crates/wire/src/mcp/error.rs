//! Refusals of MCP requests: a JSON-RPC error and its HTTP status.

use http::StatusCode;
use league_protocol::error::{INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND};
use league_protocol::frame::RequestId;
use serde_json::{Value, json};

use super::headers::Mismatch;
use super::revision::{McpRevision, REVISIONS};
use crate::dispatch::Reply;

const HEADER_MISMATCH: i32 = -32020;
const UNSUPPORTED_VERSION: i32 = -32022;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct McpError {
    status: StatusCode,
    code: i32,
    message: String,
    data: Option<Value>,
}

impl McpError {
    pub(crate) fn no_method(method: &str, revision: McpRevision) -> Self {
        let (status, known) = match revision {
            McpRevision::Handshake => (StatusCode::OK, "initialize, ping, tools/list, tools/call"),
            McpRevision::Modern => (StatusCode::NOT_FOUND, "server/discover, tools/list, tools/call"),
        };
        let clipped: String = method.chars().take(64).collect();
        let message = format!("there is no method {clipped:?} here; there are {known}");
        Self { status, code: METHOD_NOT_FOUND, message, data: None }
    }

    pub(crate) fn missing(field: &str) -> Self {
        let message = format!("params._meta lacks io.modelcontextprotocol/{field}, which every request carries");
        Self { status: StatusCode::BAD_REQUEST, code: INVALID_PARAMS, message, data: None }
    }

    pub(crate) fn unsupported(version: &str) -> Self {
        let requested: String = version.chars().take(64).collect();
        let message = format!("this server does not speak MCP {requested:?}");
        let data = Some(json!({ "supported": REVISIONS, "requested": requested }));
        Self { status: StatusCode::BAD_REQUEST, code: UNSUPPORTED_VERSION, message, data }
    }

    pub(crate) fn batch() -> Self {
        let message = String::from("since 2025-06-18 MCP has no batches: send one request at a time");
        Self { status: StatusCode::BAD_REQUEST, code: INVALID_REQUEST, message, data: None }
    }

    pub(crate) fn answer(self, id: &RequestId) -> serde_json::Result<Reply> {
        if *id == RequestId::Absent {
            return Ok(Reply::nothing());
        }
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = self.data {
            error["data"] = data;
        }
        let body = serde_json::to_vec(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))?;
        Ok(Reply::new(self.status, body))
    }
}

impl From<Mismatch> for McpError {
    fn from(message: Mismatch) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code: HEADER_MISMATCH, message, data: None }
    }
}
