//! Finds league calls among the tools of a peer's `tools/list`, and their arguments.

use serde_json::Value;
use smol_str::SmolStr;

use super::{ArgumentShape, CallDialect, MAX_FIELDS, MAX_NAME, NOTICES};
use crate::request::DISPATCH;
use crate::table::{CallRow, Method, TABLE};

const CATCH_ALL: [&str; 3] = [DISPATCH, "handle_message", "receive_message"];

pub(super) fn calls(listing: &Value) -> Option<Vec<CallDialect>> {
    let tools = listing.get("tools")?.as_array()?;
    let named = |wanted: &dyn Fn(&str) -> bool| {
        tools.iter().find(|tool| tool.get("name").and_then(Value::as_str).is_some_and(wanted))
    };
    let any = named(&|name| CATCH_ALL.contains(&name));
    let mut found = any.is_some();
    let mut calls = Vec::new();
    for row in TABLE {
        let own = named(&|name| name == row.name).or_else(|| named(&|name| is_for(row, name)));
        found |= own.is_some();
        let method = row.method;
        let call = match own.or(any) {
            Some(tool) => {
                let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
                let name = (name != row.name && name.len() <= MAX_NAME).then(|| SmolStr::new(name));
                CallDialect {
                    method,
                    name,
                    shape: shape(tool.get("inputSchema").unwrap_or(&Value::Null), row),
                    unknown: false,
                }
            }
            None => CallDialect { method, name: None, shape: ArgumentShape::Whole, unknown: NOTICES.contains(&method) },
        };
        if call.name.is_some() || call.shape != ArgumentShape::Whole || call.unknown {
            calls.push(call);
        }
    }
    found.then_some(calls)
}

/// Compares any name of the call, with any separators.
fn is_for(row: &CallRow, tool: &str) -> bool {
    let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_', '.'], "");
    let names = std::iter::once(&row.name).chain(row.aliases).chain(&row.message);
    Method::named(tool).is_some_and(|(method, _)| method == row.method)
        || names.into_iter().any(|name| plain(name) == plain(tool))
}

/// A tool whose schema names fields gets no others, because most SDKs refuse unknown fields.
fn shape(schema: &Value, row: &CallRow) -> ArgumentShape {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|fields| !fields.is_empty())
    else {
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        return if closed { ArgumentShape::Fields(Vec::new()) } else { ArgumentShape::Whole };
    };
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let input = (row.input)();
    let ours =
        |name: &str| name != "message" && input.pointer("/properties").is_some_and(|own| own.get(name).is_some());
    let sole = match (required.as_slice(), properties.len()) {
        ([name], _) => Some(*name),
        (_, 1) => properties.keys().next().map(String::as_str),
        (_, _) => None,
    };
    let holds_an_object = |name: &str| match properties.get(name).and_then(|schema| schema.get("type")) {
        None => true,
        Some(kind) => kind == "object" || kind.as_array().is_some_and(|kinds| kinds.contains(&"object".into())),
    };
    if let Some(key) = sole.filter(|name| !ours(name) && holds_an_object(name) && name.len() <= MAX_NAME) {
        return ArgumentShape::Under(SmolStr::new(key));
    }
    let open = schema.get("additionalProperties") == Some(&Value::Bool(true));
    let names: Vec<SmolStr> = properties.keys().filter(|name| name.len() <= MAX_NAME).map(SmolStr::new).collect();
    if open || names.len() > MAX_FIELDS { ArgumentShape::Whole } else { ArgumentShape::Fields(names) }
}
