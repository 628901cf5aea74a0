//! `agents/agents_config.json`: the agents that the operator lists.

use std::collections::HashSet;

use anyhow::{Result, ensure};
use league_protocol::id::{GameType, PlayerId, RefereeId};
use league_store::views::register::BY_MANAGER;
use league_wire::endpoint::Endpoint;
use serde::Deserialize;
use serde_json::Value;
use smol_str::SmolStr;

use super::document::Document;
use super::error::ConfigError;
use super::values::{name, object, whole};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Agents {
    pub(crate) manager: Option<Endpoint>,
    pub(crate) referees: Vec<KnownReferee>,
    pub(crate) players: Vec<KnownPlayer>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AgentsFile {
    #[serde(deserialize_with = "object")]
    league_manager: KnownManager,
    /// `None` stands for an entry that the manager wrote.
    referees: Vec<Option<KnownReferee>>,
    players: Vec<Option<KnownPlayer>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct KnownManager {
    #[serde(rename = "display_name")]
    _display_name: String,
    endpoint: Option<Endpoint>,
    #[serde(rename = "written_by")]
    _written_by: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(crate) struct KnownReferee {
    #[serde(rename = "referee_id")]
    pub(crate) id: RefereeId,
    #[serde(default, rename = "display_name", deserialize_with = "name")]
    pub(crate) name: Option<SmolStr>,
    endpoint: Option<Endpoint>,
    default_endpoint: Option<Endpoint>,
    #[serde(default, deserialize_with = "whole::<1, 10_000, _, _>")]
    pub(crate) max_concurrent_matches: Option<u32>,
    /// An empty list means every game. An agent of another implementation may play games that this program does not
    /// know.
    #[serde(default)]
    pub(crate) game_types: Vec<GameType>,
    #[serde(default = "active")]
    pub(crate) active: bool,
    #[serde(default, rename = "written_by")]
    _written_by: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(crate) struct KnownPlayer {
    #[serde(rename = "player_id")]
    pub(crate) id: PlayerId,
    #[serde(default, rename = "display_name", deserialize_with = "name")]
    pub(crate) name: Option<SmolStr>,
    endpoint: Option<Endpoint>,
    default_endpoint: Option<Endpoint>,
    #[serde(default)]
    pub(crate) game_types: Vec<GameType>,
    #[serde(default = "active")]
    pub(crate) active: bool,
    #[serde(default, rename = "written_by")]
    _written_by: String,
}

fn active() -> bool {
    true
}

impl KnownReferee {
    pub(super) fn endpoint(&self) -> Option<&Endpoint> {
        self.endpoint.as_ref().or(self.default_endpoint.as_ref())
    }
}

impl KnownPlayer {
    pub(super) fn endpoint(&self) -> Option<&Endpoint> {
        self.endpoint.as_ref().or(self.default_endpoint.as_ref())
    }
}

impl Agents {
    pub(crate) fn referee(&self, id: Option<&RefereeId>) -> Option<&KnownReferee> {
        self.referees.iter().find(|known| Some(&known.id) == id)
    }

    pub(crate) fn player(&self, id: Option<&PlayerId>) -> Option<&KnownPlayer> {
        self.players.iter().find(|known| Some(&known.id) == id)
    }

    /// An entry that the manager wrote when an agent registered configures nothing: it describes an agent of an earlier
    /// league.
    pub(super) fn read(document: &mut Document) -> Result<Self, ConfigError> {
        let by_manager = |entry: &Value| entry.get("written_by").is_some_and(|by| by == BY_MANAGER);
        if by_manager(&document.value["league_manager"])
            && let Some(file) = document.value.as_object_mut()
        {
            file.remove("league_manager");
        }
        for list in ["referees", "players"] {
            let entries = document.value.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
            entries.filter(|entry| by_manager(entry)).for_each(|entry| *entry = Value::Null);
        }
        let file: AgentsFile = document.parse(&|_| None, &[])?;
        let referees = file.referees.iter().map(|known| Some(known.as_ref()?.id.as_str()));
        unique(document, "referees", "referee_id", referees)?;
        let players = file.players.iter().map(|known| Some(known.as_ref()?.id.as_str()));
        unique(document, "players", "player_id", players)?;
        Ok(Self {
            manager: file.league_manager.endpoint,
            referees: file.referees.into_iter().flatten().collect(),
            players: file.players.into_iter().flatten().collect(),
        })
    }
}

fn unique<'a>(
    document: &Document,
    list: &str,
    key: &str,
    ids: impl Iterator<Item = Option<&'a str>>,
) -> Result<(), ConfigError> {
    let mut taken = HashSet::new();
    for (index, id) in ids.enumerate() {
        if id.is_some_and(|id| !taken.insert(id)) {
            let place = format!("{list}[{index}].{key}");
            return Err(document.wrong(&place, "expected an id that no entry before it has"));
        }
    }
    Ok(())
}

/// The games that the agent may offer by its entry. An entry without games permits all.
pub(crate) fn permitted(id: &str, active: bool, listed: &[GameType], offered: &[GameType]) -> Result<Vec<GameType>> {
    const FILE: &str = "config/agents/agents_config.json";
    ensure!(active, "{FILE} says that {id} is not active; set its `active` to true, or start another id");
    let is_listed = |game: &&GameType| listed.is_empty() || listed.contains(game);
    let games: Vec<GameType> = offered.iter().filter(is_listed).cloned().collect();
    let names = |games: &[GameType]| games.iter().map(GameType::as_str).collect::<Vec<_>>().join(", ");
    let (listed, offered) = (names(listed), names(offered));
    ensure!(
        !games.is_empty(),
        "{FILE} lists {listed} as the game_types of {id}, which offers {offered}; list one of those"
    );
    Ok(games)
}
