//! `config/agents/agents_config.json`: the registered agents and their endpoints; the manager writes it with every
//! registration.
//!
//! The operator may edit the same file. The manager updates the entries that it marked with `written_by`. In the
//! operator's entries it only fills in missing keys. It leaves a file that it cannot parse as it is.
//!
//! `log_state` says which events the manager had seen, and has the SHA-256 of everything that the manager wrote:
//! `league verify` finds changes there and leaves the operator's entries alone.

use std::collections::{HashMap, HashSet};
use std::io;

use league_core::season::Season;
use league_core::season::agent::{AgentProfile, RegisteredPlayer, RegisteredReferee};
use league_protocol::id::LeagueId;
use league_protocol::time::Timestamp;
use serde_json::{Map, Value, json};

use super::SCHEMA_VERSION;
use crate::checksum::sha256;

pub const WRITTEN_BY: &str = "written_by";
pub const BY_MANAGER: &str = "league_manager";

/// In bytes; a longer file is left alone.
pub(super) const MAX_REGISTER: u64 = 16 * 1024 * 1024;

type Entry = Map<String, Value>;

#[derive(Clone, PartialEq, Debug)]
pub struct RegisterFile {
    league: LeagueId,
    events: u64,
    updated: Timestamp,
    manager: Entry,
    referees: Vec<Entry>,
    players: Vec<Entry>,
}

impl RegisterFile {
    pub fn of(season: &Season, manager: Option<&str>) -> Self {
        let own = json!({
            "display_name": season.config().title(), "endpoint": manager, "version": env!("CARGO_PKG_VERSION"),
        });
        Self {
            league: season.config().league_id.clone(),
            events: season.events(),
            updated: season.updated(),
            manager: entry(own),
            referees: season.referees().iter().map(referee).collect(),
            players: season.players().iter().map(player).collect(),
        }
    }

    pub(crate) fn merged_into(&self, found: Value) -> io::Result<Value> {
        let Value::Object(mut file) = found else { return Err(invalid("the file is not a JSON object")) };
        file.entry("schema_version").or_insert_with(|| Value::from(SCHEMA_VERSION));
        file.insert(String::from("last_updated"), json!(self.updated));
        let Value::Object(known) = file.entry("league_manager").or_insert_with(|| json!({})) else {
            return Err(invalid("league_manager is not an object"));
        };
        update(known, &self.manager);
        merge(&mut file, "referees", "referee_id", &self.referees)?;
        merge(&mut file, "players", "player_id", &self.players)?;
        let mut whole = Value::Object(file);
        let state = json!({ "league_id": self.league, "events": self.events });
        whole[LOG_STATE] = state;
        whole[LOG_STATE]["sha256"] = Value::from(managers_digest(&whole));
        Ok(whole)
    }

    /// The manager's entries of the agents in `found` that differ from this register, as (place, found, expected).
    pub(crate) fn differing_agents(&self, found: &Value) -> Vec<(String, Value, Value)> {
        let mut differing = Vec::new();
        for (list, id, entries) in [("referees", "referee_id", &self.referees), ("players", "player_id", &self.players)]
        {
            let by_id: HashMap<&str, &Entry> =
                entries.iter().filter_map(|entry| Some((entry.get(id)?.as_str()?, entry))).collect();
            for (place, known) in found[list].as_array().into_iter().flatten().enumerate() {
                // Others are the operator's entries, or agents of another league in this home.
                let Some(expected) = known[id].as_str().and_then(|id| by_id.get(id)) else { continue };
                if known[WRITTEN_BY] == BY_MANAGER && known_keys(known).as_object() != Some(expected) {
                    let expected = Value::Object(Entry::clone(expected));
                    differing.push((format!("{list}[{place}]"), known_keys(known), expected));
                }
            }
        }
        differing
    }

    /// Whether `found` has an entry for each agent.
    pub(crate) fn is_complete_in(&self, found: &Value) -> bool {
        [("referees", "referee_id", &self.referees), ("players", "player_id", &self.players)].into_iter().all(
            |(list, id, entries)| {
                let known = found[list].as_array().into_iter().flatten();
                let known: HashSet<&str> = known.filter_map(|entry| entry[id].as_str()).collect();
                entries.iter().all(|entry| entry.get(id).and_then(Value::as_str).is_some_and(|id| known.contains(id)))
            },
        )
    }
}

pub(crate) const LOG_STATE: &str = "log_state";

/// The keys of the manager's entries. The operator may add others.
const KEYS: [&str; 12] = [
    "active",
    "default_endpoint",
    "display_name",
    "endpoint",
    "game_types",
    "max_concurrent_matches",
    "player_id",
    "referee_id",
    "version",
    WRITTEN_BY,
    "league_id",
    "events",
];

fn known_keys(entry: &Value) -> Value {
    let known = entry.as_object().into_iter().flatten().filter(|(key, _)| KEYS.contains(&key.as_str()));
    Value::Object(known.map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// The SHA-256 of what the manager wrote: its own entries and the state of the log.
pub(crate) fn managers_digest(file: &Value) -> String {
    let entries = |list: &str| {
        let entries = file[list].as_array().into_iter().flatten();
        entries.filter(|entry| entry[WRITTEN_BY] == BY_MANAGER).map(known_keys).collect::<Vec<_>>()
    };
    let manager = Some(&file["league_manager"]).filter(|entry| entry[WRITTEN_BY] == BY_MANAGER).map(known_keys);
    let part = json!({
        "schema_version": file["schema_version"], "last_updated": file["last_updated"],
        "log_state": known_keys(&file[LOG_STATE]), "league_manager": manager,
        "referees": entries("referees"), "players": entries("players"),
    });
    sha256(part.to_string().as_bytes())
}

fn referee(referee: &RegisteredReferee) -> Entry {
    let AgentProfile { name, version, endpoint, games, .. } = &referee.profile;
    entry(json!({
        "referee_id": referee.id, "display_name": name, "endpoint": endpoint, "version": version, "game_types": games,
        "max_concurrent_matches": referee.capacity, "active": !referee.is_absent(),
    }))
}

fn player(player: &RegisteredPlayer) -> Entry {
    let AgentProfile { name, version, endpoint, games, .. } = &player.profile;
    entry(json!({
        "player_id": player.id, "display_name": name, "version": version, "game_types": games,
        "default_endpoint": endpoint, "active": !player.withdrawn,
    }))
}

fn entry(value: Value) -> Entry {
    let Value::Object(mut entry) = value else { return Map::new() };
    entry.insert(String::from(WRITTEN_BY), Value::from(BY_MANAGER));
    entry
}

fn merge(file: &mut Map<String, Value>, key: &str, id: &str, entries: &[Entry]) -> io::Result<()> {
    let Value::Array(list) = file.entry(key).or_insert_with(|| json!([])) else {
        return Err(invalid(&format!("{key} is not a list")));
    };
    let known = list.iter().enumerate().filter_map(|(place, known)| Some((known.get(id)?.as_str()?.to_owned(), place)));
    let known: HashMap<String, usize> = known.collect();
    for entry in entries {
        let place = entry.get(id).and_then(Value::as_str).and_then(|id| known.get(id));
        match place.and_then(|place| list.get_mut(*place)) {
            Some(Value::Object(found)) => update(found, entry),
            Some(_) | None => list.push(Value::Object(entry.clone())),
        }
    }
    Ok(())
}

/// Overwrites the manager's entries; fills in missing keys of the operator's entries.
fn update(found: &mut Entry, entry: &Entry) {
    let ours = found.is_empty() || found.get(WRITTEN_BY).is_some_and(|by| by == BY_MANAGER);
    // The course writes `endpoint` for referees and `default_endpoint` for players; the operator may use either.
    let has_endpoint = found.contains_key("endpoint") || found.contains_key("default_endpoint");
    for (key, value) in entry {
        let is_endpoint = matches!(key.as_str(), "endpoint" | "default_endpoint");
        let missing = !found.contains_key(key) && key != WRITTEN_BY && !(is_endpoint && has_endpoint);
        if ours || missing {
            found.insert(key.clone(), value.clone());
        }
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what}; correct it, or move the file away"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> RegisterFile {
        let player =
            json!({ "player_id": "P01", "display_name": "Alpha", "default_endpoint": "http://a/mcp", "active": true });
        let (manager, players) = (entry(json!({ "endpoint": "http://m/mcp" })), vec![entry(player)]);
        let (league, updated) = ("cup".parse().unwrap(), Timestamp::from_unix(1_736_937_000));
        RegisterFile { league, events: 7, updated, manager, referees: Vec::new(), players }
    }

    #[test]
    fn an_empty_file_gets_all_entries() {
        let made = file().merged_into(json!({})).unwrap();
        assert_eq!(made["schema_version"], "1.0.0");
        assert_eq!(made["last_updated"], "2025-01-15T10:30:00Z");
        assert_eq!(made["league_manager"]["endpoint"], "http://m/mcp");
        assert_eq!(made["players"][0]["default_endpoint"], "http://a/mcp");
        assert_eq!(made["referees"], json!([]));
    }

    #[test]
    fn entries_of_the_operator_stay_as_they_are() {
        let by_hand =
            json!({ "player_id": "P01", "display_name": "By hand", "endpoint": "http://b/mcp", "active": false });
        let written = json!({
            "remark": "ours", "league_manager": { "endpoint": "http://elsewhere/mcp" },
            "players": [{ "player_id": "P07" }, by_hand],
        });
        let made = file().merged_into(written.clone()).unwrap();
        for key in ["remark", "league_manager", "players"] {
            assert_eq!(made[key], written[key]);
        }
    }

    #[test]
    fn the_managers_entries_are_updated_and_keep_added_keys() {
        let mut before = file().merged_into(json!({})).unwrap();
        before["players"][0]["remark"] = json!("sits at the window");
        let mut moved = file();
        moved.players[0].insert(String::from("default_endpoint"), json!("http://c/mcp"));
        let made = moved.merged_into(before).unwrap();
        assert_eq!(made["players"].as_array().unwrap().len(), 1);
        assert_eq!(made["players"][0]["default_endpoint"], "http://c/mcp");
        assert_eq!(made["players"][0]["remark"], "sits at the window");
    }

    #[test]
    fn a_file_with_other_types_is_refused() {
        for found in [json!([]), json!({ "players": {} }), json!({ "league_manager": 5 })] {
            assert!(file().merged_into(found).unwrap_err().to_string().contains("move the file away"));
        }
    }
}
