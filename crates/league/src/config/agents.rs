//! `agents/agents_config.json`: who is known beforehand, and where.

use std::collections::HashSet;

use league_protocol::id::{GameType, PlayerId, RefereeId};
use league_store::views::register::BY_MANAGER;
use league_wire::endpoint::Endpoint;
use smol_str::SmolStr;
use thiserror::Error;

use super::error::ConfigError;
use super::rule;
use super::section::Section;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Agents {
    pub(crate) manager: Option<Endpoint>,
    pub(crate) referees: Vec<KnownReferee>,
    pub(crate) players: Vec<KnownPlayer>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct KnownReferee {
    pub(crate) id: RefereeId,
    /// By name, where one is given.
    pub(crate) name: Option<SmolStr>,
    pub(crate) endpoint: Option<Endpoint>,
    /// How many matches it runs at a time.
    pub(crate) max_concurrent_matches: Option<u32>,
    /// The games it offers; all when none is named.
    pub(crate) game_types: Vec<GameType>,
    pub(crate) active: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct KnownPlayer {
    pub(crate) id: PlayerId,
    /// By name, where one is given.
    pub(crate) name: Option<SmolStr>,
    pub(crate) endpoint: Option<Endpoint>,
    /// The games it plays; all when none is named.
    pub(crate) game_types: Vec<GameType>,
    pub(crate) active: bool,
}

impl Agents {
    /// What is known of the referee that starts as `id`.
    pub(crate) fn referee(&self, id: Option<&RefereeId>) -> Option<&KnownReferee> {
        self.referees.iter().find(|known| Some(&known.id) == id)
    }

    /// What is known of the player that starts as `id`.
    pub(crate) fn player(&self, id: Option<&PlayerId>) -> Option<&KnownPlayer> {
        self.players.iter().find(|known| Some(&known.id) == id)
    }

    pub(super) fn read(&mut self, file: &mut Section<'_>) -> Result<(), ConfigError> {
        file.get("schema_version", &rule::version("1."))?;
        file.ignore(&["last_updated"]);
        self.manager = file.within("league_manager", |section| {
            if is_register(section)? {
                return Ok(None);
            }
            section.ignore(&["display_name", "version"]);
            section.get("endpoint", &rule::endpoint())
        })?;
        let mut taken = HashSet::new();
        let referees = file.each("referees", |section| {
            if is_register(section)? {
                return Ok(None);
            }
            let id = section.need("referee_id", &rule::id::<RefereeId>())?;
            unique(section, "referee_id", &mut taken, id.as_str())?;
            let Common { name, endpoint, game_types, active } = Common::read(section)?;
            let max_concurrent_matches = section.get("max_concurrent_matches", &rule::matches())?;
            Ok(Some(KnownReferee { id, name, endpoint, max_concurrent_matches, game_types, active }))
        })?;
        self.referees = referees.into_iter().flatten().collect();
        taken.clear();
        let players = file.each("players", |section| {
            if is_register(section)? {
                return Ok(None);
            }
            let id = section.need("player_id", &rule::id::<PlayerId>())?;
            unique(section, "player_id", &mut taken, id.as_str())?;
            let Common { name, endpoint, game_types, active } = Common::read(section)?;
            Ok(Some(KnownPlayer { id, name, endpoint, game_types, active }))
        })?;
        self.players = players.into_iter().flatten().collect();
        Ok(())
    }
}

/// Makes sure that an agent may start under an id that is listed: that it is `active`, and plays some of the games that are `offered`. Gives
/// those games.
pub(crate) fn permitted(
    id: &str,
    active: bool,
    listed: &[GameType],
    offered: &[GameType],
) -> Result<Vec<GameType>, NotPermitted> {
    if !active {
        return Err(NotPermitted::Inactive(id.to_owned()));
    }
    let games: Vec<GameType> =
        offered.iter().filter(|game| listed.is_empty() || listed.contains(game)).cloned().collect();
    if games.is_empty() {
        let names = |games: &[GameType]| games.iter().map(GameType::as_str).collect::<Vec<_>>().join(", ");
        return Err(NotPermitted::NoGame { id: id.to_owned(), listed: names(listed), offered: names(offered) });
    }
    Ok(games)
}

/// Why an agent may not start under its id.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum NotPermitted {
    #[error(
        "config/agents/agents_config.json says that {0} is not active; set its `active` to true, or start another id"
    )]
    Inactive(String),
    /// It is listed for games that it cannot play.
    #[error(
        "config/agents/agents_config.json lists {listed} as the game_types of {id}, which offers {offered}; list one of those"
    )]
    NoGame { id: String, listed: String, offered: String },
}

/// Whether the manager made this entry when an agent registered. It tells others who is there, and configures nothing: an agent
/// that is started later is not bound to what another one said in another league.
fn is_register(section: &mut Section<'_>) -> Result<bool, ConfigError> {
    let by = section.get("written_by", &rule::text("allowed is a text"))?;
    let by_manager = by.as_deref() == Some(BY_MANAGER);
    if by_manager {
        section.open();
    }
    Ok(by_manager)
}

/// What referees and players have in common.
struct Common {
    name: Option<SmolStr>,
    endpoint: Option<Endpoint>,
    game_types: Vec<GameType>,
    active: bool,
}

impl Common {
    fn read(section: &mut Section<'_>) -> Result<Self, ConfigError> {
        section.ignore(&["version"]);
        let name = section.get("display_name", &rule::name())?;
        // The course writes the one for referees and the other for players.
        let usual = section.get("default_endpoint", &rule::endpoint())?;
        let endpoint = section.get("endpoint", &rule::endpoint())?.or(usual);
        // An agent of other make may know more games than we do.
        let game_types = section.list("game_types", &rule::id())?.unwrap_or_default();
        let active = section.get("active", &rule::truth())?.unwrap_or(true);
        Ok(Self { name, endpoint, game_types, active })
    }
}

/// Makes sure that nobody is listed twice.
fn unique(section: &Section<'_>, key: &str, taken: &mut HashSet<String>, id: &str) -> Result<(), ConfigError> {
    if taken.insert(id.to_owned()) {
        return Ok(());
    }
    Err(section.wrong(key, &format!("{id:?}"), "allowed is an id that stands nowhere before it"))
}
