//! The file of `league run --config`: which agents play a league, where each listens, and how those are started that are not running yet.
//!
//! The form is the one of S1 7.1.2, in which every agent is an address. An agent may also be an object:
//!
//! | key | meaning |
//! |---|---|
//! | `endpoint` | where it listens; needed |
//! | `id`, `name` | its id, such as `P01` or `REF01`, and the name that tables show |
//! | `start` | `true`: start this program as that agent |
//! | `strategy` | for players: start this program with that strategy |
//! | `command`, `directory` | start another program: its words, and where it runs |
//!
//! An agent with none of `start`, `strategy` and `command` is running already: it is only contacted.

use std::collections::HashSet;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use league_protocol::id::{PlayerId, RefereeId};
use league_protocol::sender::Role;
use league_wire::endpoint::Endpoint;
use smol_str::{SmolStr, format_smolstr};

use super::document::Document;
use super::error::{ConfigError, Warning};
use super::rule::{self, Rule};
use super::section::Section;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Plan {
    pub(crate) manager: Planned,
    pub(crate) referees: Vec<Planned>,
    pub(crate) players: Vec<Planned>,
    /// How long an agent may take to answer after its start.
    pub(crate) wait: Duration,
    /// How often an agent is started again.
    pub(crate) max_restarts: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Planned {
    pub(crate) role: Role,
    /// What it is called in the log: its id, or its role and number.
    pub(crate) label: SmolStr,
    pub(crate) id: Option<SmolStr>,
    pub(crate) name: Option<SmolStr>,
    pub(crate) endpoint: Endpoint,
    pub(crate) start: Start,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Start {
    Contact,
    /// By this program; a player with this strategy.
    Ours(Option<SmolStr>),
    Command {
        words: Vec<String>,
        /// Where it runs; in the directory of the file unless said.
        directory: PathBuf,
    },
}

impl Plan {
    /// Reads the file at `path`.
    pub(crate) fn read(path: &Path) -> Result<(Self, Vec<Warning>), ConfigError> {
        if !path.exists() {
            let error = Error::from(ErrorKind::NotFound);
            return Err(ConfigError::Unreadable { path: path.to_owned(), error });
        }
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut warnings = Vec::new();
        let plan = Document::read(path.to_owned())?.root(&mut warnings, |file| read(file, directory))?;
        Ok((plan, warnings))
    }

    /// Every agent, in the order in which they are started.
    pub(crate) fn agents(&self) -> impl Iterator<Item = &Planned> {
        std::iter::once(&self.manager).chain(&self.referees).chain(&self.players)
    }
}

fn read(file: &mut Section<'_>, directory: &Path) -> Result<Plan, ConfigError> {
    file.get("schema_version", &rule::version("1."))?;
    file.ignore(&["last_updated"]);
    let manager = one(file, "league_manager", Role::Manager, directory)?
        .ok_or_else(|| file.wrong("league_manager", "missing", rule::endpoint().allowed()))?;
    let mut referees: Vec<Planned> = one(file, "referee", Role::Referee, directory)?.into_iter().collect();
    let mut number = referees.len();
    referees.extend(file.each("referees", |section| {
        number += 1;
        agent(section, Role::Referee, number, directory)
    })?);
    if referees.is_empty() {
        return Err(file.wrong("referee", "missing", rule::endpoint().allowed()));
    }
    let mut number = 0;
    let players = file.each("players", |section| {
        number += 1;
        agent(section, Role::Player, number, directory)
    })?;
    if players.len() < 2 {
        return Err(file.wrong("players", &format!("a list of {}", players.len()), "allowed are two players or more"));
    }
    let wait = file.get("wait_sec", &rule::seconds())?.map_or(WAIT, Duration::from_secs_f64);
    let max_restarts = file.get("max_restarts", &rule::whole(0..=1000, ""))?.unwrap_or(MAX_RESTARTS);
    let plan = Plan { manager, referees, players, wait, max_restarts };
    let (mut places, mut labels) = (HashSet::new(), HashSet::new());
    for agent in plan.agents() {
        if !places.insert(agent.endpoint.site().clone()) {
            let allowed = "allowed is an address at which no other agent listens";
            return Err(file.wrong("endpoint", &format!("{:?} twice", agent.endpoint.to_string()), allowed));
        }
        if !labels.insert(agent.label.clone()) {
            return Err(file.wrong("id", &format!("{:?} twice", agent.label), "allowed is an id for one agent only"));
        }
    }
    Ok(plan)
}

const WAIT: Duration = Duration::from_secs(60);
const MAX_RESTARTS: u32 = 5;

/// The agent at `key`: an address, or an object.
fn one(
    file: &mut Section<'_>,
    key: &'static str,
    role: Role,
    directory: &Path,
) -> Result<Option<Planned>, ConfigError> {
    if file.has_object(key) {
        return file.within(key, |section| agent(section, role, 1, directory)).map(Some);
    }
    let endpoint = file.get(key, &rule::endpoint())?;
    Ok(endpoint.map(|endpoint| Planned {
        role,
        label: label(role, 1),
        id: None,
        name: None,
        endpoint,
        start: Start::Contact,
    }))
}

fn agent(section: &mut Section<'_>, role: Role, number: usize, directory: &Path) -> Result<Planned, ConfigError> {
    let endpoint = section.need("endpoint", &rule::endpoint())?;
    let id = match role {
        Role::Player => section.get("id", &rule::id::<PlayerId>().map(|id| SmolStr::new(id.as_str())))?,
        Role::Referee => section.get("id", &rule::id::<RefereeId>().map(|id| SmolStr::new(id.as_str())))?,
        Role::Manager | Role::Operator => None,
    };
    let name = section.get("name", &rule::name())?;
    let ours = section.get("start", &rule::truth())?.unwrap_or(false);
    let strategy = match role {
        Role::Player => section.get("strategy", &rule::player_strategy())?,
        Role::Manager | Role::Referee | Role::Operator => None,
    };
    let words: Option<Vec<String>> = section.list("command", &word())?;
    let place = section.get("directory", &rule::file())?;
    let start = match words {
        Some(words) if words.is_empty() => {
            return Err(section.wrong("command", "[]", "allowed is a program and its arguments"));
        }
        Some(_) if ours || strategy.is_some() => {
            let allowed = "allowed is one of command, strategy and start";
            return Err(section.wrong("command", "there beside strategy or start", allowed));
        }
        Some(words) => {
            let directory = place.map_or_else(|| directory.to_owned(), |place| directory.join(place));
            Start::Command { words, directory }
        }
        None if ours || strategy.is_some() => Start::Ours(strategy),
        None => Start::Contact,
    };
    let label = id.clone().unwrap_or_else(|| label(role, number));
    Ok(Planned { role, label, id, name, endpoint, start })
}

fn label(role: Role, number: usize) -> SmolStr {
    match role {
        Role::Manager | Role::Operator => SmolStr::new_static("league_manager"),
        Role::Referee => format_smolstr!("referee_{number}"),
        Role::Player => format_smolstr!("player_{number}"),
    }
}

fn word() -> Rule<String> {
    rule::text("allowed are the words of a command")
}
