//! Reads the addresses of players from the answers of a manager of another implementation.
//!
//! Such answers have no common form: a list of agents, a map from ids to addresses, nested in other objects or as JSON
//! text. Only an id next to an address counts.

use std::collections::BTreeMap;

use league_protocol::id::PlayerId;
use league_wire::endpoint::Endpoint;
use serde_json::{Map, Value};

/// The deepest nesting of objects, lists and texts that is read.
const DEPTH: usize = 16;

const IDS: [&str; 3] = ["player_id", "agent_id", "id"];
const ADDRESSES: [&str; 3] = ["endpoint", "contact_endpoint", "url"];

#[derive(Clone, Debug, Default)]
pub(crate) struct PlayerDirectory(BTreeMap<PlayerId, Endpoint>);

impl PlayerDirectory {
    /// Adds the addresses in `said`; known addresses stay.
    pub(crate) fn read(&mut self, said: &Value) {
        self.look(said, DEPTH);
    }

    pub(crate) fn of(&self, player: &PlayerId) -> Option<&Endpoint> {
        self.0.get(player)
    }

    fn look(&mut self, value: &Value, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match value {
            Value::Object(object) => {
                self.note(IDS.iter().find_map(|name| object.get(*name)?.as_str()), address(object));
                for (key, inner) in object {
                    if is_id(key) {
                        let text = inner.as_str().filter(|text| text.starts_with("http"));
                        self.note(Some(key), text.or_else(|| inner.as_object().and_then(address)));
                    }
                    self.look(inner, depth);
                }
            }
            Value::Array(list) => list.iter().for_each(|inner| self.look(inner, depth)),
            Value::String(text) if text.starts_with(['{', '[']) => {
                if let Ok(inner) = serde_json::from_str(text) {
                    self.look(&inner, depth);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn note(&mut self, id: Option<&str>, address: Option<&str>) {
        let id = id.and_then(|id| id.parse().ok());
        if let (Some(id), Some(endpoint)) = (id, address.and_then(|text| text.parse().ok())) {
            self.0.entry(id).or_insert(endpoint);
        }
    }
}

/// Also reads an entry that holds the registration message itself.
fn address(entry: &Map<String, Value>) -> Option<&str> {
    let named = |entry: &'_ Map<String, Value>| ADDRESSES.iter().find(|name| entry.contains_key(**name)).copied();
    let within = |entry| named(entry).and_then(|name| entry.get(name)?.as_str());
    within(entry).or_else(|| entry.get("player_meta")?.as_object().and_then(within))
}

fn is_id(key: &str) -> bool {
    key.strip_prefix('P').is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(said: &Value) -> Vec<(String, String)> {
        let mut directory = PlayerDirectory::default();
        directory.read(said);
        directory.0.iter().map(|(id, endpoint)| (id.to_string(), endpoint.to_string())).collect()
    }

    #[test]
    fn players_are_found_in_every_form_that_is_in_use() {
        let expected = [("P01".to_owned(), "http://127.0.0.1:8101/mcp".to_owned())];
        let entry = json!({"player_id": "P01", "endpoint": "http://127.0.0.1:8101/mcp"});
        for said in [
            json!({"result": {"data": {"players": [entry]}}}),
            json!({"result": {"players": {"P01": {"contact_endpoint": "http://127.0.0.1:8101/mcp"}}}}),
            json!({"endpoints": {"P01": "http://127.0.0.1:8101/mcp"}}),
            json!([{"id": "P01", "player_meta": {"contact_endpoint": "http://127.0.0.1:8101/mcp"}}]),
            json!({"result": {"content": [{"type": "text", "text": json!({"players": [entry]}).to_string()}]}}),
        ] {
            assert_eq!(found(&said), expected, "{said}");
        }
    }

    #[test]
    fn an_address_without_an_id_is_ignored() {
        assert!(
            found(&json!({"endpoint": "http://127.0.0.1:1/mcp", "players": {"Px": "http://127.0.0.1:1/"}})).is_empty()
        );
        assert!(found(&json!({"player_id": "P01", "endpoint": "no address"})).is_empty());
        let mut deep = json!({"player_id": "P01", "endpoint": "http://127.0.0.1:1/mcp"});
        for _ in 0..DEPTH {
            deep = json!([deep]);
        }
        assert!(found(&deep).is_empty());
    }
}
