//! JSON Schemas of whole messages: the envelope's fields and the body's in one object, as they stand on the wire.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use crate::head::{Envelope, PROTOCOL};

/// The schema of a body of type `B` with its envelope. Only what the body needs is required: a caller of a tool may leave the
/// envelope out.
pub fn of_message<B: JsonSchema>() -> Schema {
    let mut body = plain::<B>();
    let mut envelope = plain::<Envelope>();
    let mut properties = Map::new();
    let protocol = serde_json::json!({ "const": PROTOCOL, "description": "The protocol." });
    properties.insert("protocol".into(), protocol);
    let message_type = serde_json::json!({ "type": "string", "description": "The message's name." });
    properties.insert("message_type".into(), message_type);
    for schema in [&mut envelope, &mut body] {
        if let Some(Value::Object(own)) = schema.remove("properties") {
            properties.extend(own);
        }
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
    schema
}
