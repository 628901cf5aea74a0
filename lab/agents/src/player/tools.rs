//! The tools of a player with MCP: the answer to `tools/list`, and how arguments become a message.

use serde_json::{Map, Value, json};

use super::dialect::{PlayerDialect, parameter};
use crate::frame::Refusal;
use crate::message::text;
use crate::names::Names;

fn fields(kind: &str) -> &'static [&'static str] {
    match kind {
        "GAME_INVITATION" => &["match_id", "game_type", "role_in_match", "opponent_id", "conversation_id"],
        "CHOOSE_PARITY_CALL" => &["match_id", "player_id", "context", "deadline", "conversation_id"],
        "GAME_OVER" => &["match_id", "game_result", "conversation_id"],
        _ => &["round_id", "conversation_id"],
    }
}

pub(crate) fn listed(names: &Names, dialects: &[PlayerDialect]) -> Value {
    let schema = |kind: &str| {
        if let Some(key) = parameter!(dialects, UnderOneKey) {
            return json!({"type": "object", "properties": {key: {"type": "object"}}, "required": [key]});
        }
        if dialects.contains(&PlayerDialect::FieldsOnly) {
            let known: Map<String, Value> = fields(kind).iter().map(|name| ((*name).to_owned(), json!({}))).collect();
            return json!({"type": "object", "properties": known, "additionalProperties": false});
        }
        json!({"type": "object", "additionalProperties": true})
    };
    let tool = |(name, kind): (&str, &str)| json!({"name": name, "description": kind, "inputSchema": schema(kind)});
    Value::Array(names.iter().map(tool).collect())
}

pub(crate) fn message(kind: &str, arguments: Value, dialects: &[PlayerDialect]) -> Result<Value, Refusal> {
    if let Some(key) = parameter!(dialects, UnderOneKey) {
        let missing = || Refusal::new(-32602, format!("1 validation error: {key} Missing required argument"));
        return arguments.get(key).cloned().ok_or_else(missing);
    }
    if dialects.contains(&PlayerDialect::FieldsOnly) {
        let unexpected = arguments.as_object().into_iter().flat_map(Map::keys);
        let unexpected = unexpected.into_iter().find(|name| !fields(kind).contains(&name.as_str()));
        if let Some(name) = unexpected {
            return Err(Refusal::new(-32602, format!("1 validation error: {name} Unexpected keyword argument")));
        }
        if text(&arguments, "match_id").is_empty() && fields(kind).contains(&"match_id") {
            return Err(Refusal::new(-32602, "1 validation error: match_id Missing required argument"));
        }
    }
    Ok(arguments)
}
