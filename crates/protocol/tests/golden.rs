//! Goldens of every emitted byte. The files under `snapshots` add line breaks, which the bytes do not have.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what helps it")]

mod sample;

use std::collections::BTreeSet;

use league_protocol::dialect::PeerDialect;
use league_protocol::error::{ErrorCode, METHOD_NOT_FOUND, RequestError};
use league_protocol::frame::{Frame, RequestId};
use league_protocol::reply::ReplyTo;
use league_protocol::table::{Method, TABLE};
use serde_json::Value;

/// Adds line breaks and keeps the order; fails on bytes that contain whitespace.
fn pretty(bytes: &[u8]) -> String {
    serde_json::from_slice::<Value>(bytes).unwrap();
    let (mut out, mut depth, mut in_text, mut escaped) = (String::new(), 0, false, false);
    let text = std::str::from_utf8(bytes).unwrap();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if in_text {
            out.push(c);
            in_text = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        assert!(!c.is_whitespace(), "not compact: {text}");
        let closes = matches!(rest.peek(), Some('}' | ']'));
        match c {
            '{' | '[' => depth += usize::from(!closes),
            '}' | ']' if !out.ends_with(['{', '[']) => {
                depth -= 1;
                out.push('\n');
                out.extend(std::iter::repeat_n("  ", depth));
            }
            _ => in_text = c == '"',
        }
        out.push(c);
        if c == ':' {
            out.push(' ');
        } else if c == ',' || (matches!(c, '{' | '[') && !closes) {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", depth));
        }
    }
    out
}

fn request(method: Method, frame: Frame) -> Vec<u8> {
    let mut out = Vec::new();
    PeerDialect::from(frame).write(17, &sample::envelope(), &sample::call(method), &mut out).unwrap();
    out
}

fn reply_to(method: Method, frame: Frame) -> ReplyTo {
    ReplyTo { frame, id: RequestId::from(17), method: Some(method) }
}

fn answer(method: Method, frame: Frame) -> Vec<u8> {
    let mut out = Vec::new();
    sample::answer(method, &reply_to(method, frame), &mut out);
    out
}

fn refusal(to: &ReplyTo, fault: &RequestError) -> Vec<u8> {
    let mut out = Vec::new();
    to.refuse(&sample::envelope(), fault, &mut out).unwrap();
    out
}

#[test]
fn every_request_in_the_canonical_frame() {
    for row in TABLE {
        insta::assert_snapshot!(format!("request_{}", row.name), pretty(&request(row.method, Frame::Direct)));
    }
}

#[test]
fn a_request_in_every_other_frame() {
    for frame in [Frame::Typed, Frame::Tool, Frame::Bare, Frame::Nested] {
        insta::assert_snapshot!(format!("frame_{frame}"), pretty(&request(Method::ChooseParity, frame)));
    }
}

#[test]
fn every_answer() {
    for row in TABLE {
        insta::assert_snapshot!(format!("answer_{}", row.name), pretty(&answer(row.method, Frame::Bare)));
    }
}

#[test]
fn an_answer_in_every_frame() {
    let shown = Frame::ALL.map(|frame| format!("{frame}:\n{}", pretty(&answer(Method::ChooseParity, frame))));
    insta::assert_snapshot!("answer_frames", shown.join("\n\n"));
}

#[test]
fn every_answer_is_the_same_message_in_every_frame() {
    for row in TABLE {
        let bare = String::from_utf8(answer(row.method, Frame::Bare)).unwrap();
        for frame in Frame::ALL {
            let written = String::from_utf8(answer(row.method, frame)).unwrap();
            let expected = match frame {
                Frame::Direct | Frame::Typed | Frame::Nested => {
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":17,\"result\":{bare}}}")
                }
                Frame::Tool => format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":17,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\
                     \"structuredContent\":{bare},\"isError\":false}}}}",
                    serde_json::to_string(&bare).unwrap()
                ),
                Frame::Bare | Frame::Register => bare.clone(),
            };
            assert_eq!(written, expected, "{} {frame}", row.name);
        }
    }
}

#[test]
fn every_error_in_every_frame() {
    let faults = [
        (
            "a token",
            RequestError::new(ErrorCode::E011, Method::LeagueQuery, "auth_token is missing").about("auth_token"),
        ),
        ("a field", RequestError::new(ErrorCode::E003, Method::LeagueQuery, "sender is missing").about("sender")),
        (
            "too fast",
            RequestError { retry_after: Some(2), ..RequestError::new(ErrorCode::E014, Method::LeagueQuery, "slower") },
        ),
    ];
    let mut shown = Vec::new();
    for (name, fault) in faults {
        for frame in Frame::ALL {
            let bytes = refusal(&reply_to(Method::LeagueQuery, frame), &fault);
            shown.push(format!("{name}, {frame}:\n{}", pretty(&bytes)));
        }
    }
    for frame in Frame::ALL {
        let no_caller = ReplyTo { frame, id: RequestId::Null, method: None };
        let bytes = refusal(&no_caller, &RequestError::rpc(METHOD_NOT_FOUND, "there is no method \"juggle\" here"));
        shown.push(format!("nothing understood, {frame}:\n{}", pretty(&bytes)));
    }
    insta::assert_snapshot!("errors", shown.join("\n\n"));
}

#[test]
fn every_schema() {
    let shown = TABLE.iter().map(|row| {
        let show = |schema| serde_json::to_string_pretty(&schema).unwrap();
        format!("{}\n{}\n=> {}", row.name, show((row.input)()), show((row.output)()))
    });
    insta::assert_snapshot!("schemas", shown.collect::<Vec<_>>().join("\n\n"));
}

#[test]
fn requests_have_exactly_the_four_keys_of_json_rpc() {
    for row in TABLE {
        for frame in [Frame::Direct, Frame::Typed, Frame::Tool, Frame::Nested] {
            let written: Value = serde_json::from_slice(&request(row.method, frame)).unwrap();
            let keys: BTreeSet<_> = written.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, BTreeSet::from(["jsonrpc", "method", "params", "id"]), "{} {frame}", row.name);
            assert!(written["id"].is_u64());
        }
    }
}

/// Supports the part of JSON Schema that the call table uses.
fn breach(schema: &Value, value: &Value, place: &str) -> Option<String> {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    let typed = match &schema["type"] {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => true,
    };
    let one_of = |key: &str| match schema[key].as_array() {
        Some(choices) => choices.iter().any(|choice| breach(choice, value, place).is_none()),
        None => true,
    };
    let constant = schema.get("const").is_none_or(|only| only == value);
    if !typed || !constant || !one_of("oneOf") || !one_of("anyOf") {
        return Some(format!("{place} is {value}"));
    }
    let missing = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(object) = value.as_object() {
        if let Some(missing) = missing.into_iter().find(|name| !object.contains_key(*name)) {
            return Some(format!("{place} has no {missing}"));
        }
        return object.iter().find_map(|(key, value)| {
            let of_key = schema["properties"].get(key).unwrap_or(&schema["additionalProperties"]);
            breach(of_key, value, &format!("{place}.{key}"))
        });
    }
    value.as_array().into_iter().flatten().find_map(|item| breach(&schema["items"], item, &format!("{place}[]")))
}

#[test]
fn written_messages_match_their_schema() {
    for row in TABLE {
        let written: Value = serde_json::from_slice(&request(row.method, Frame::Direct)).unwrap();
        assert_eq!(breach(&(row.input)().to_value(), &written["params"], row.name), None);
        let written: Value = serde_json::from_slice(&answer(row.method, Frame::Bare)).unwrap();
        assert_eq!(breach(&(row.output)().to_value(), &written, row.name), None);
    }
}

#[test]
fn every_field_of_a_schema_is_explained() {
    fn check(schema: &Value, place: &str) {
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            assert!(field["description"].is_string(), "{place}.{name} has no description");
            check(field, &format!("{place}.{name}"));
            check(&field["items"], &format!("{place}.{name}[]"));
        }
        assert!(schema.get("default").is_none_or(|default| !default.is_null()), "{place} defaults to null");
    }
    for row in TABLE {
        check(&(row.input)().to_value(), row.name);
        check(&(row.output)().to_value(), row.name);
    }
}

#[test]
fn no_snapshot_is_left_over() {
    let rows = TABLE.iter().flat_map(|row| [format!("request_{}", row.name), format!("answer_{}", row.name)]);
    let others = ["frame_B", "frame_C", "frame_D", "frame_E", "answer_frames", "errors", "schemas"].map(String::from);
    let wanted: BTreeSet<_> = rows.chain(others).map(|name| format!("golden__{name}.snap")).collect();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots");
    let there: BTreeSet<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("golden__") && name.ends_with(".snap"))
        .collect();
    assert_eq!(there, wanted);
}
