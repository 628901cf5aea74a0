//! The tools that MCP's conformance suite calls by name, in front of our server.
//!
//! Every request goes to the real server. A call of one of the suite's tools goes there as a call of a tool without
//! arguments. So the server checks versions and headers and shapes the answer, and the proxy replaces only the content
//! of the result.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::http_server::{HttpRequest, HttpServer, ReservedPort, Stream};
use crate::proxy::{answer_once, forward};

const TEXTS: [(&str, &str); 4] = [
    ("test_simple_text", "This is a simple text response for testing."),
    ("test_error_handling", "This tool intentionally returns an error for testing"),
    ("json_schema_2020_12_tool", "The arguments have arrived."),
    ("test_header", "The arguments have arrived."),
];

/// A tool without arguments that all our servers have.
const TOOL: &str = "ping";

pub fn start(address: SocketAddr) -> io::Result<HttpServer> {
    ReservedPort::free()?.connections(Duration::ZERO, false, move |stream, _| converse(stream, address))
}

async fn converse(mut stream: Stream, server: SocketAddr) {
    let Some(request) = HttpRequest::read(&mut stream).await else { return };
    let answer = answer(request, server).await.unwrap_or_default();
    answer_once(stream, &answer).await;
}

async fn answer(mut request: HttpRequest, server: SocketAddr) -> io::Result<Vec<u8>> {
    let mut body = request.json();
    let called = body.pointer("/params/name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let fixture = TEXTS.iter().find(|(name, _)| body["method"] == "tools/call" && *name == called);
    if let Some((name, text)) = fixture {
        let is_modern = !request.header("mcp-method").is_empty();
        if *name == "test_header" && is_modern && !repeats_region(&request, &body) {
            let error = json!({"code": -32020, "message": "the header Mcp-Param-Region does not repeat the argument"});
            let answer = json!({"jsonrpc": "2.0", "id": body["id"], "error": error}).to_string();
            let head = format!(
                "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
                answer.len()
            );
            return Ok(format!("{head}connection: close\r\n\r\n{answer}").into_bytes());
        }
        body["params"]["name"] = json!(TOOL);
        body["params"]["arguments"] = json!({});
        for (_, value) in request.headers.iter_mut().filter(|(header, value)| header == "mcp-name" && value == name) {
            TOOL.clone_into(value);
        }
        request.body = body.to_string().into_bytes();
        let answered = forward(&request, server).await?;
        return Ok(changed(&answered, |answer| {
            if let Some(result) = answer.get_mut("result").and_then(Value::as_object_mut) {
                result.remove("structuredContent");
                result.insert("content".into(), json!([{"type": "text", "text": text}]));
                result.insert("isError".into(), json!(*name == "test_error_handling"));
            }
        }));
    }
    let answered = forward(&request, server).await?;
    if body["method"] != "tools/list" {
        return Ok(answered);
    }
    Ok(changed(&answered, |answer| {
        if let Some(tools) = answer.pointer_mut("/result/tools").and_then(Value::as_array_mut) {
            tools.extend(TEXTS.iter().map(|(name, _)| {
                json!({"name": name, "description": "For the conformance suite.", "inputSchema": schema(name)})
            }));
        }
    }))
}

/// Replaces the JSON of an answer, which may be the data of an event.
fn changed(answer: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let text = String::from_utf8_lossy(answer);
    let parts = text.split_once("\r\n\r\n").and_then(|(head, body)| {
        let (begin, end) = (body.find('{')?, body.rfind('}')? + 1);
        Some((head, body, begin, end, serde_json::from_str::<Value>(&body[begin..end]).ok()?))
    });
    let Some((head, body, begin, end, mut document)) = parts else { return answer.to_vec() };
    change(&mut document);
    let body = format!("{}{document}{}", &body[..begin], &body[end..]);
    let head: String = head
        .lines()
        .filter(|line| !line.to_lowercase().starts_with("content-length:"))
        .map(|line| format!("{line}\r\n"))
        .collect();
    format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Clients encode in base64 what a header cannot hold.
fn repeats_region(request: &HttpRequest, body: &Value) -> bool {
    let argument = body.pointer("/params/arguments/region").and_then(Value::as_str).unwrap_or_default();
    let header = request.header("mcp-param-region");
    match header.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(wrapped) => BASE64.decode(wrapped.as_bytes()).is_ok_and(|bytes| bytes == argument.as_bytes()),
        None => header == argument,
    }
}

fn schema(tool: &str) -> Value {
    match tool {
        "json_schema_2020_12_tool" => json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": { "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            } },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        }),
        "test_header" => json!({
            "type": "object",
            "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
            "required": ["region"],
        }),
        _ => json!({ "type": "object", "additionalProperties": false }),
    }
}
