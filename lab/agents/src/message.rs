use serde_json::{Map, Value, json};

/// In the format of the course's canonical examples.
pub(crate) fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

pub(crate) fn envelope(kind: &str, sender: &str, conversation: &str) -> Value {
    json!({
        "protocol": "league.v2",
        "message_type": kind,
        "sender": sender,
        "timestamp": now(),
        "conversation_id": conversation,
    })
}

pub(crate) fn with(mut message: Value, more: Value) -> Value {
    if let (Some(fields), Value::Object(more)) = (message.as_object_mut(), more) {
        fields.extend(more);
    }
    message
}

pub(crate) fn text<'m>(message: &'m Value, field: &str) -> &'m str {
    message.get(field).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn without(message: Value, fields: &[&str]) -> Value {
    match message {
        Value::Object(map) => {
            Value::Object(map.into_iter().filter(|(key, _)| !fields.contains(&key.as_str())).collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => message,
    }
}
