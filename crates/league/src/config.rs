//! The configuration: the files under `<home>/config`, overridden by the environment.
//!
//! Defaults < files < environment < command line. [`Configured::load`] does the first three; a command sets public fields
//! from its flags and calls [`Configured::check`]. No file and no key is required. A wrong value is an error even where
//! another layer overrides it. An unknown key is a warning: homes of other implementations hold many.
//!
//! | file | content |
//! |---|---|
//! | `system.json` | [`Network`], [`TlsFiles`], [`Timeouts`], the limits of a match, tokens, [`Rates`], the default league |
//! | `leagues/<league_id>.json` | name, game, scoring, numbers of players and referees, strictness |
//! | `agents/agents_config.json` | [`Agents`] |
//! | `games/games_registry.json` | which of the known games are offered |
//! | `defaults/referee.json`, `defaults/player.json` | [`RefereeDefaults`], [`PlayerDefaults`] |
//!
//! [`SYSTEM`], [`LEAGUE`], [`REFEREE`] and [`PLAYER`] list the variables and the keys that they override. Beside those,
//! `LEAGUE_MANAGER` is the manager's endpoint, or several ones separated by commas, and `LEAGUE_TLS_CERT`, `LEAGUE_TLS_KEY` and `LEAGUE_CA` name the files of
//! HTTPS. Times are seconds. An empty variable counts as not set.

pub(crate) mod agents;
mod document;
pub(crate) mod error;
mod files;
pub(crate) mod network;
pub(crate) mod plan;
#[cfg(test)]
mod tests;
pub(crate) mod tls;
mod values;

use std::path::{Path, PathBuf};

use league_core::rules::registry::known_games;
use league_core::season::config::LeagueConfig;
use league_protocol::id::{GameType, LeagueId, PlayerId, RefereeId};
use league_store::home::Home;
use league_wire::endpoint::Endpoint;
use serde_json::{Value, json};

use crate::cli::TlsOptions;
use agents::Agents;
use document::{Document, Variable};
use error::ConfigError;
use files::{GamesFile, LeagueFile, PlayerDefaults, Rates, RefereeDefaults, SystemFile, Timeouts};
use network::Network;
use tls::TlsFiles;
use values::one_of;
pub(crate) use values::seconds_flag;

const DEFAULT_LEAGUE: &str = "league_2025_even_odd";

const SYSTEM: &[Variable] = &[
    ("LEAGUE_ID", &["default_league_id"]),
    ("LEAGUE_HOST", &["network.base_host"]),
    ("LEAGUE_MANAGER_PORT", &["network.default_league_manager_port"]),
    ("LEAGUE_REFEREE_PORTS", &["network.default_referee_port_range"]),
    ("LEAGUE_PLAYER_PORTS", &["network.default_player_port_range"]),
    ("LEAGUE_TRUSTED_PROXIES", &["network.trusted_proxies"]),
    ("LEAGUE_TOKEN_TTL_HOURS", &["security.token_ttl_hours"]),
    ("LEAGUE_REGISTER_TIMEOUT", &["timeouts.register_referee_timeout_sec", "timeouts.register_player_timeout_sec"]),
    ("LEAGUE_JOIN_TIMEOUT", &["timeouts.game_join_ack_timeout_sec"]),
    ("LEAGUE_MOVE_TIMEOUT", &["timeouts.move_timeout_sec"]),
    ("LEAGUE_GAME_OVER_TIMEOUT", &["timeouts.game_over_timeout_sec"]),
    ("LEAGUE_RESPONSE_TIMEOUT", &["timeouts.generic_response_timeout_sec"]),
    ("LEAGUE_MAX_RETRIES", &["retry_policy.max_retries"]),
    ("LEAGUE_RETRY_DELAY", &["retry_policy.base_delay_sec"]),
];
const LEAGUE: &[Variable] = &[
    ("LEAGUE_MIN_PLAYERS", &["participants.min_players"]),
    ("LEAGUE_MAX_PLAYERS", &["participants.max_players"]),
    ("LEAGUE_MAX_REFEREES", &["participants.max_referees"]),
    ("LEAGUE_STRICT", &["strict"]),
];
const REFEREE: &[Variable] = &[("LEAGUE_MAX_MATCHES", &["max_concurrent_matches"])];
const PLAYER: &[Variable] = &[("LEAGUE_STRATEGY", &["strategy"])];

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Configured {
    pub(crate) league: LeagueConfig,
    pub(crate) games: Vec<GameType>,
    pub(crate) network: Network,
    /// The manager may listen at another address.
    pub(crate) manager: Endpoint,
    /// Those that agents know beside it: one leads, and the others are standbys.
    pub(crate) other_managers: Vec<Endpoint>,
    /// Whether a setting names that endpoint, so that it does not follow from the network.
    manager_named: bool,
    pub(crate) tls: TlsFiles,
    pub(crate) timeouts: Timeouts,
    pub(crate) rates: Rates,
    pub(crate) agents: Agents,
    pub(crate) referee: RefereeDefaults,
    pub(crate) player: PlayerDefaults,
}

impl Configured {
    pub(crate) fn read(home: &Home, league: Option<&LeagueId>, tls: &TlsOptions) -> Result<Self, ConfigError> {
        let (configured, warnings) = Self::load(home, league.cloned(), |name| std::env::var(name).ok())?;
        warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
        configured.with_tls(tls.files())
    }

    /// The default league if none is given. Also returns the warnings.
    pub(crate) fn load(
        home: &Home,
        league: Option<LeagueId>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<(Self, Vec<String>), ConfigError> {
        // Compose files and shells set an empty variable in order to leave it out.
        let env = |name: &str| environment(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let (root, mut warnings) = (home.config(), Vec::new());

        let mut document = Document::read(root.join("system.json"))?;
        if document.value.get("default_league_id").is_none() {
            document.value["default_league_id"] = DEFAULT_LEAGUE.into();
        }
        let system: SystemFile = document.parse(&env, SYSTEM)?;
        warnings.append(&mut document.warnings);
        let mut rules = LeagueConfig::even_odd(league.unwrap_or_else(|| system.default_league_id.clone()));
        rules.limits = system.match_limits();
        rules.token_ttl_hours = system.security.token_ttl_hours;
        rules.token_length = system.security.token_length;

        let mut document = Document::read(root.join("games/games_registry.json"))?;
        let games = offered(&mut document)?;
        warnings.append(&mut document.warnings);

        let mut document = Document::read(root.join("leagues").join(format!("{}.json", rules.league_id)))?;
        set_league(&mut rules, &games, &mut document, &env)?;
        warnings.append(&mut document.warnings);

        let mut document = Document::read(root.join("agents/agents_config.json"))?;
        let agents = Agents::read(&mut document)?;

        let mut defaults = Document::read(root.join("defaults/referee.json"))?;
        let referee = defaults.parse(&env, REFEREE)?;
        warnings.append(&mut defaults.warnings);
        let mut defaults = Document::read(root.join("defaults/player.json"))?;
        let player = defaults.parse(&env, PLAYER)?;
        warnings.append(&mut defaults.warnings);

        let tls = tls_files(&system, &root, &env);
        let managers: Vec<Endpoint> = match env("LEAGUE_MANAGER") {
            Some(text) => {
                let urls = text.split(',').map(|url| url.trim().parse::<Endpoint>());
                urls.collect::<Result<_, _>>().map_err(|error| ConfigError::Setting {
                    setting: String::from("LEAGUE_MANAGER"),
                    found: Some(format!("{text:?}")),
                    expected: format!("{error}"),
                })?
            }
            // A variable that moves the manager overrides an endpoint in a file.
            None if env("LEAGUE_HOST").is_some() || env("LEAGUE_MANAGER_PORT").is_some() => Vec::new(),
            None => agents.manager.iter().cloned().collect(),
        };
        let mut managers = managers.into_iter();
        let manager = managers.next();
        let configured = Self {
            league: rules,
            games,
            manager_named: manager.is_some(),
            manager: manager.map_or_else(|| system.network.manager(tls.serves()), Ok)?,
            other_managers: managers.collect(),
            network: system.network,
            tls,
            timeouts: system.timeouts,
            rates: system.rate_limits,
            agents,
            referee,
            player,
        };
        configured.check()?;
        if let Some(warning) = configured.manager_port_warning() {
            document.warn(warning);
        }
        warnings.append(&mut document.warnings);
        Ok((configured, warnings))
    }

    /// Adds the TLS files of the command line. With HTTPS the default endpoint of the manager changes, too.
    pub(crate) fn with_tls(mut self, flags: TlsFiles) -> Result<Self, ConfigError> {
        self.tls = flags.or(self.tls);
        if !self.manager_named {
            self.manager = self.network.manager(self.tls.serves())?;
        }
        Ok(self)
    }

    /// The port of its listed endpoint, or else the port of its number.
    pub(crate) fn referee_port(&self, id: &RefereeId) -> Option<u16> {
        let listed = self.agents.referee(Some(id)).and_then(|known| known.endpoint()).map(Endpoint::port);
        listed.or_else(|| self.network.referee_ports.of(id.number()?))
    }

    pub(crate) fn player_port(&self, id: &PlayerId) -> Option<u16> {
        let listed = self.agents.player(Some(id)).and_then(|known| known.endpoint()).map(Endpoint::port);
        listed.or_else(|| self.network.player_ports.of(id.number()?))
    }

    /// Warns if the listed endpoint has another port than the manager. On other hosts, or behind TLS, there may be a
    /// proxy.
    fn manager_port_warning(&self) -> Option<String> {
        let (found, port) = (self.agents.manager.as_ref()?, self.network.manager_port);
        let here = !found.is_secure() && found.host() == self.network.host && *found == self.manager;
        (here && found.port() != port)
            .then(|| format!("league_manager.endpoint has port {}, but the manager listens on {port}", found.port()))
    }

    /// Checks values against each other; each alone was checked when it was read.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let (min, max) = (self.league.min_players, self.league.max_players);
        if min > max { Err(ConfigError::Players { min, max }) } else { Ok(()) }
    }
}

/// The files of `system.json` are relative to the directory of the configuration.
fn tls_files(system: &SystemFile, root: &Path, env: &dyn Fn(&str) -> Option<String>) -> TlsFiles {
    let file = |name: &str, listed: &Option<PathBuf>| {
        env(name).map(PathBuf::from).or_else(|| listed.as_ref().map(|path| root.join(path)))
    };
    TlsFiles {
        certificate: file("LEAGUE_TLS_CERT", &system.security.tls_certificate),
        key: file("LEAGUE_TLS_KEY", &system.security.tls_key),
        authority: file("LEAGUE_CA", &system.security.tls_authority),
    }
}

/// Every known game if the registry is empty.
fn offered(document: &mut Document) -> Result<Vec<GameType>, ConfigError> {
    let known: Vec<GameType> = known_games().filter_map(|name| name.parse().ok()).collect();
    // Games are a list, or an object with the types as its keys: both are in use.
    if let Some(games) = document.value.get("games").and_then(Value::as_object) {
        document.value["games"] = games.keys().map(|game| json!({ "game_type": game })).collect();
    }
    let file: GamesFile = document.parse(&|_| None, &[])?;
    let mut registered = Vec::new();
    for (index, game) in file.games.into_iter().enumerate() {
        let missing = || document.wrong(&format!("games[{index}].game_type"), "this key is required");
        registered.push(game.game_type_id.or(game.game_type).ok_or_else(missing)?);
    }
    if registered.is_empty() {
        return Ok(known);
    }
    let expected = one_of(known.iter().map(GameType::as_str));
    for unknown in registered.iter().filter(|game| !known.contains(game)) {
        document.warn(format_args!("the game {unknown} is not known; expected {expected}"));
    }
    let offered: Vec<GameType> = known.into_iter().filter(|game| registered.contains(game)).collect();
    if offered.is_empty() { Err(document.wrong("games", format!("expected {expected}"))) } else { Ok(offered) }
}

fn set_league(
    rules: &mut LeagueConfig,
    games: &[GameType],
    document: &mut Document,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<(), ConfigError> {
    // Files of other implementations list the points, which are compared before any tie-break.
    let tiebreakers = document.value.pointer_mut("/scoring/tiebreakers").and_then(Value::as_array_mut);
    if let Some(list) = tiebreakers.filter(|list| list.contains(&json!("points"))) {
        list.retain(|name| name != "points");
        document.warn("scoring.tiebreakers lists \"points\", which always come first; remove it");
    }
    let file: LeagueFile = document.parse(env, LEAGUE)?;
    // A copied file with the old id would give one league the rules of another.
    if file.league_id.is_some_and(|id| id != rules.league_id) {
        return Err(document.wrong("league_id", format!("expected {:?}", rules.league_id.as_str())));
    }
    if let Some(first) = games.first().filter(|_| !games.contains(&rules.game_type)) {
        rules.game_type = first.clone();
    }
    if let Some(game) = file.game_type {
        if !games.contains(&game) {
            let expected = one_of(games.iter().map(GameType::as_str));
            return Err(document.wrong("game_type", format!("expected {expected}")));
        }
        rules.game_type = game;
    }
    rules.display_name = file.display_name;
    rules.strict = file.strict;
    rules.scoring = file.scoring.0;
    *rules = rules.clone().with_format(file.scheduling.format).with_games(file.scheduling.games_per_match);
    let participants = file.participants;
    rules.min_players = participants.min_players.unwrap_or(rules.min_players);
    rules.max_players = participants.max_players.unwrap_or(rules.max_players);
    rules.max_referees = participants.max_referees.unwrap_or(rules.max_referees);
    Ok(())
}
