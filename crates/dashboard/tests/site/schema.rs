//! The part of JSON Schema that our OpenAPI document uses.

use serde_json::Value;

/// `None` when `value` is valid.
pub(crate) fn fault(document: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    if schema == &Value::Bool(true) {
        return None;
    }
    let no = |why: &str| Some(format!("{at}: {why}: {value}"));
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.strip_prefix('#').unwrap());
        let target = target.unwrap_or_else(|| panic!("{reference} leads nowhere"));
        return fault(document, target, value, at);
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[choice].as_array()
            && choices.iter().all(|schema| fault(document, schema, value, at).is_some())
        {
            return no("none of several");
        }
    }
    if let Some(parts) = schema["allOf"].as_array()
        && let Some(fault) = parts.iter().find_map(|schema| fault(document, schema, value, at))
    {
        return Some(fault);
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    let is = |kind: &&str| match *kind {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("an unknown type {other}"),
    };
    if !types.is_empty() && !types.iter().any(is) {
        return no(&format!("not {types:?}"));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return no("not one of the allowed");
    }
    if let (Some(items), Some(schema)) = (value.as_array(), schema.get("items")) {
        return items
            .iter()
            .enumerate()
            .find_map(|(place, item)| fault(document, schema, item, &format!("{at}/{place}")));
    }
    let members = value.as_object()?;
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !members.contains_key(name) {
            return no(&format!("{name} is missing"));
        }
    }
    let properties = schema["properties"].as_object();
    members.iter().find_map(|(name, value)| {
        let below = format!("{at}/{name}");
        match properties.and_then(|properties| properties.get(name)).or_else(|| schema.get("additionalProperties")) {
            Some(schema) => fault(document, schema, value, &below),
            None if properties.is_some() => Some(format!("{below} is not described")),
            None => None,
        }
    })
}
