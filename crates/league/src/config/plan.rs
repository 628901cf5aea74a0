//! The file of `league run --config`: which agents play a league, where each listens, and how to start the missing ones.
//!
//! The form is the one of S1 7.1.2, in which every agent is an address. An agent may also be an object:
//!
//! | key | meaning |
//! |---|---|
//! | `endpoint` | where it listens; required |
//! | `id`, `name` | its id, such as `P01` or `REF01`, and the name that tables show |
//! | `start` | `true`: start this program as that agent |
//! | `strategy` | for players: start this program with that strategy |
//! | `command`, `directory` | start another program: its words, and where it runs |
//!
//! An agent with none of `start`, `strategy` and `command` already runs: it is only contacted.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use league_protocol::id::PlayerId;
use league_protocol::sender::Role;
use league_wire::endpoint::Endpoint;
use serde::Deserialize;
use serde_json::{Value, json};
use smol_str::{SmolStr, format_smolstr};

use super::document::Document;
use super::error::ConfigError;
use super::values::{duration, name, object, path, player_strategy, whole};

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Plan {
    pub(crate) manager: Planned,
    /// At least one.
    pub(crate) referees: Vec<Planned>,
    /// At least two.
    pub(crate) players: Vec<Planned>,
    pub(crate) wait: Duration,
    pub(crate) max_restarts: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Planned {
    pub(crate) role: Role,
    /// Its name in the log: its id, or its role and number.
    pub(crate) label: SmolStr,
    pub(crate) id: Option<SmolStr>,
    pub(crate) name: Option<SmolStr>,
    pub(crate) endpoint: Endpoint,
    pub(crate) start: Start,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Start {
    Contact,
    Ours(Option<SmolStr>),
    Command { words: Vec<String>, directory: PathBuf },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    #[serde(deserialize_with = "object")]
    league_manager: Entry,
    referee: Option<Entry>,
    #[serde(default)]
    referees: Vec<Entry>,
    #[serde(default)]
    players: Vec<Entry>,
    #[serde(default = "wait", deserialize_with = "duration")]
    wait_sec: Duration,
    #[serde(default = "max_restarts", deserialize_with = "whole::<0, 1000, _, _>")]
    max_restarts: u32,
}

fn wait() -> Duration {
    Duration::from_secs(60)
}

fn max_restarts() -> u32 {
    5
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct Entry {
    endpoint: Endpoint,
    /// Ids of players and of referees have the same syntax.
    id: Option<PlayerId>,
    #[serde(default, deserialize_with = "name")]
    name: Option<SmolStr>,
    #[serde(default)]
    start: bool,
    #[serde(default, deserialize_with = "player_strategy")]
    strategy: Option<SmolStr>,
    command: Option<Vec<String>>,
    #[serde(default, deserialize_with = "path")]
    directory: Option<PathBuf>,
}

impl Plan {
    /// Also returns warnings about the file.
    pub(crate) fn read(path: &Path) -> Result<(Self, Vec<String>), ConfigError> {
        if !path.exists() {
            return Err(ConfigError::File {
                path: path.to_owned(),
                what: String::from("cannot be read: it does not exist"),
            });
        }
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut document = Document::read(path.to_owned())?;
        for key in ["league_manager", "referee"] {
            if let Some(entry) = document.value.get_mut(key).filter(|entry| entry.is_string()) {
                *entry = json!({ "endpoint": Value::take(entry) });
            }
        }
        let file: PlanFile = document.parse(&|_| None, &[])?;
        let planned = |role: Role, place: String, number: usize, entry: Entry| {
            entry.planned(role, number, directory, |key, expected| document.wrong(&format!("{place}{key}"), expected))
        };
        let manager = planned(Role::Manager, String::from("league_manager."), 1, file.league_manager)?;
        let first = file.referee.map(|entry| (String::from("referee."), entry));
        let others = file.referees.into_iter().enumerate().map(|(index, entry)| (format!("referees[{index}]."), entry));
        let referees = first.into_iter().chain(others).enumerate();
        let referees: Vec<Planned> = referees
            .map(|(index, (place, entry))| planned(Role::Referee, place, index + 1, entry))
            .collect::<Result<_, _>>()?;
        let players = file.players.into_iter().enumerate();
        let players: Vec<Planned> = players
            .map(|(index, entry)| planned(Role::Player, format!("players[{index}]."), index + 1, entry))
            .collect::<Result<_, _>>()?;
        if referees.is_empty() {
            return Err(document.wrong("referee", "expected an address such as http://127.0.0.1:8001/mcp"));
        }
        if players.len() < 2 {
            return Err(document.wrong("players", "expected two players or more"));
        }
        let plan = Self { manager, referees, players, wait: file.wait_sec, max_restarts: file.max_restarts };
        let (mut sites, mut labels) = (HashSet::new(), HashSet::new());
        for agent in plan.agents() {
            let twice = if !sites.insert(agent.endpoint.site()) {
                Some(("endpoint", agent.endpoint.to_string()))
            } else {
                (!labels.insert(&agent.label)).then(|| ("id", agent.label.to_string()))
            };
            if let Some((key, value)) = twice {
                let what = format!("gives two agents the {key} {value:?}");
                return Err(ConfigError::File { path: path.to_owned(), what });
            }
        }
        Ok((plan, document.warnings))
    }

    /// In the order of their start.
    pub(crate) fn agents(&self) -> impl Iterator<Item = &Planned> {
        std::iter::once(&self.manager).chain(&self.referees).chain(&self.players)
    }
}

impl Entry {
    fn planned(
        self,
        role: Role,
        number: usize,
        directory: &Path,
        wrong: impl Fn(&str, &str) -> ConfigError,
    ) -> Result<Planned, ConfigError> {
        if self.strategy.is_some() && role != Role::Player {
            return Err(wrong("strategy", "expected for players only"));
        }
        let ours = self.start || self.strategy.is_some();
        let start = match self.command {
            Some(words) if words.is_empty() => return Err(wrong("command", "expected a program and its arguments")),
            Some(_) if ours => return Err(wrong("command", "expected only one of command, strategy and start")),
            Some(words) => {
                let directory = self.directory.map_or_else(|| directory.to_owned(), |own| directory.join(own));
                Start::Command { words, directory }
            }
            None if ours => Start::Ours(self.strategy),
            None => Start::Contact,
        };
        let id = self.id.map(|id| SmolStr::new(id.as_str()));
        let label = id.clone().unwrap_or_else(|| match role {
            Role::Manager | Role::Operator => SmolStr::new_static("league_manager"),
            Role::Referee => format_smolstr!("referee_{number}"),
            Role::Player => format_smolstr!("player_{number}"),
        });
        Ok(Planned { role, label, id, name: self.name, endpoint: self.endpoint, start })
    }
}
