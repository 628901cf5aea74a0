//! JSON Schemas of whole messages, which MCP clients show to people and to models and use to validate answers.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use crate::envelope::{Envelope, PROTOCOL};

/// Only the body's fields are required, because a caller of a tool may omit the envelope.
pub fn of_message<B: JsonSchema>(message_type: Option<&str>) -> Schema {
    let protocol = serde_json::json!({ "type": "string", "const": PROTOCOL, "description": "The protocol." });
    let mut envelope = plain::<Envelope>();
    let mut properties = Map::from_iter([(String::from("protocol"), protocol)]);
    if let Some(Value::Object(own)) = envelope.remove("properties") {
        properties.extend(own);
    }
    with_properties::<B>(message_type, properties)
}

/// Leaves the envelope out, whose fields the schema of the request explains: a list of tools has at most 64 KiB.
pub fn of_answer<B: JsonSchema>(message_type: Option<&str>) -> Schema {
    with_properties::<B>(message_type, Map::new())
}

fn with_properties<B: JsonSchema>(message_type: Option<&str>, mut properties: Map<String, Value>) -> Schema {
    let mut body = plain::<B>();
    if let Some(name) = message_type {
        let name = serde_json::json!({ "type": "string", "const": name, "description": "The message's name." });
        properties.insert("message_type".into(), name);
    }
    if let Some(Value::Object(own)) = body.remove("properties") {
        properties.extend(own);
    }
    body.insert("properties".into(), Value::Object(properties));
    body.insert("type".into(), "object".into());
    body
}

fn plain<T: JsonSchema>() -> Schema {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    RecursiveTransform(without_noise).transform(&mut schema);
    schema
}

/// Removes what only matters in Rust: the width of numbers, and empty defaults.
fn without_noise(schema: &mut Schema) {
    if schema.get("format").and_then(Value::as_str).is_some_and(|format| format != "date-time") {
        schema.remove("format");
    }
    if schema.get("maximum") == Some(&Value::from(u8::MAX)) {
        schema.remove("maximum");
    }
    let says_nothing = match schema.get("default") {
        Some(Value::Null | Value::Object(_)) => true,
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Bool(_) | Value::Number(_)) | None => false,
    };
    if says_nothing {
        schema.remove("default");
    }
    // Line breaks in a doc comment have no meaning.
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    }
}
