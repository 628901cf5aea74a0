//! What is configured: the files under `<home>/config`, with the environment laid over them.
//!
//! Defaults < files < environment < command line. [`Configured::load`] does the first three; a command lays its flags over
//! the public fields and calls [`Configured::check`]. No file has to be there, and no key in it. A wrong value is an
//! error even where something else overrides it: nobody should find out on the day that the override goes. A key that
//! nobody knows is a warning: homes made for other implementations hold many.
//!
//! | file | what is read from it |
//! |---|---|
//! | `system.json` | [`Network`], [`TlsFiles`], [`Timeouts`], the limits of a match, the life and length of a token, [`Rates`], the league that is meant |
//! | `leagues/<league_id>.json` | the name, the game, the scoring, the number of players and referees, strictness |
//! | `agents/agents_config.json` | [`Agents`]: who is known and where |
//! | `games/games_registry.json` | which of our games are offered |
//! | `defaults/referee.json`, `defaults/player.json` | [`RefereeDefaults`], [`PlayerDefaults`] |
//!
//! | variable | lies over |
//! |---|---|
//! | `LEAGUE_ID` | `system.json` `default_league_id` |
//! | `LEAGUE_HOST` | `system.json` `network.base_host` |
//! | `LEAGUE_MANAGER` | `agents_config.json` `league_manager.endpoint` |
//! | `LEAGUE_MANAGER_PORT` | `system.json` `network.default_league_manager_port` |
//! | `LEAGUE_REFEREE_PORTS` | `system.json` `network.default_referee_port_range`, as in `8001-8010` |
//! | `LEAGUE_PLAYER_PORTS` | `system.json` `network.default_player_port_range` |
//! | `LEAGUE_TLS_CERT`, `LEAGUE_TLS_KEY`, `LEAGUE_CA` | `system.json` `security`: `tls_certificate`, `tls_key`, `tls_authority` |
//! | `LEAGUE_TOKEN_TTL_HOURS` | `system.json` `security.token_ttl_hours` |
//! | `LEAGUE_REGISTER_TIMEOUT` | `system.json` `timeouts`: `register_referee_timeout_sec`, `register_player_timeout_sec` |
//! | `LEAGUE_JOIN_TIMEOUT` | `system.json` `timeouts.game_join_ack_timeout_sec` |
//! | `LEAGUE_MOVE_TIMEOUT` | `system.json` `timeouts.move_timeout_sec` |
//! | `LEAGUE_GAME_OVER_TIMEOUT` | `system.json` `timeouts.game_over_timeout_sec` |
//! | `LEAGUE_RESPONSE_TIMEOUT` | `system.json` `timeouts.generic_response_timeout_sec` |
//! | `LEAGUE_MAX_RETRIES` | `system.json` `retry_policy.max_retries` |
//! | `LEAGUE_RETRY_DELAY` | `system.json` `retry_policy.base_delay_sec` |
//! | `LEAGUE_MIN_PLAYERS`, `LEAGUE_MAX_PLAYERS`, `LEAGUE_MAX_REFEREES` | `leagues/<league_id>.json` `participants` |
//! | `LEAGUE_STRICT` | `leagues/<league_id>.json` `strict` |
//! | `LEAGUE_MAX_MATCHES` | `defaults/referee.json` `max_concurrent_matches` |
//! | `LEAGUE_STRATEGY` | `defaults/player.json` `strategy` |
//!
//! Times are seconds. A variable that is empty counts as not set.

pub(crate) mod agents;
pub(crate) mod defaults;
mod document;
mod environment;
pub(crate) mod error;
mod games;
mod league;
mod nearest;
pub(crate) mod network;
pub(crate) mod plan;
pub(crate) mod rates;
mod rule;
mod section;
mod system;
#[cfg(test)]
mod tests;
pub(crate) mod tls;

use std::time::Duration;

use league_core::season::config::LeagueConfig;
use league_protocol::id::{GameType, LeagueId, PlayerId, RefereeId};
use league_store::home::Home;
use league_wire::endpoint::Endpoint;

use agents::Agents;
use defaults::{PlayerDefaults, RefereeDefaults};
use document::Document;
use environment::Environment;
use error::{ConfigError, Warning};
use network::Network;
use rates::Rates;
use rule::Rule;
use tls::TlsFiles;

/// The league that is meant when nobody names one.
const DEFAULT_LEAGUE: &str = "league_2025_even_odd";

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Configured {
    /// The rules of the league, with its id, and what is demanded of players.
    pub(crate) league: LeagueConfig,
    pub(crate) games: Vec<GameType>,
    /// Hosts and ports of what is started here.
    pub(crate) network: Network,
    /// Where the manager is found, which need not be where it listens.
    pub(crate) manager: Endpoint,
    /// Whether that was said, and does not just follow from the network.
    manager_named: bool,
    pub(crate) tls: TlsFiles,
    /// How long answers are waited for.
    pub(crate) timeouts: Timeouts,
    pub(crate) rates: Rates,
    pub(crate) agents: Agents,
    /// What a referee is told unless it is told otherwise.
    pub(crate) referee: RefereeDefaults,
    /// What a player is told unless it is told otherwise.
    pub(crate) player: PlayerDefaults,
}

/// How long answers are waited for, outside of matches; those of a match are in [`LeagueConfig::limits`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Timeouts {
    /// For the manager's answer to a referee that registers.
    pub(crate) register_referee: Duration,
    /// For the manager's answer to a player that registers.
    pub(crate) register_player: Duration,
    /// For everything that has no time of its own.
    pub(crate) response: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let usual = Duration::from_secs(10);
        Self { register_referee: usual, register_player: usual, response: usual }
    }
}

impl Configured {
    /// What is configured in `home` and in the environment; what is odd about it is said on stderr.
    pub(crate) fn read(home: &Home, league: Option<LeagueId>) -> Result<Self, ConfigError> {
        let (configured, warnings) = Self::load(home, league, |name| std::env::var(name).ok())?;
        for warning in warnings {
            eprintln!("warning: {warning}");
        }
        Ok(configured)
    }

    /// Reads everything that is configured in `home` and in the environment, for `league` or else the one that is
    /// configured.
    pub(crate) fn load(
        home: &Home,
        league: Option<LeagueId>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<(Self, Vec<Warning>), ConfigError> {
        let (environment, mut warnings, root) = (Environment::new(environment), Vec::new(), home.config());

        let mut system = system::System::default();
        Document::read(root.join("system.json"))?.root(&mut warnings, |section| system.read(section, &root))?;
        let mut league_id = match system.default_league_id.take() {
            Some(id) => id,
            None => rule::id().text("the usual league", DEFAULT_LEAGUE)?,
        };
        environment.take("LEAGUE_ID", &rule::id(), &mut league_id)?;
        let league_id = league.unwrap_or(league_id);
        let mut configured = Self {
            manager: system.network.manager(system.tls.serves())?,
            manager_named: false,
            tls: system.tls,
            league: LeagueConfig::even_odd(league_id),
            games: games::all(),
            network: system.network,
            timeouts: system.timeouts,
            rates: system.rates,
            agents: Agents::default(),
            referee: RefereeDefaults::default(),
            player: PlayerDefaults::default(),
        };
        configured.league.limits = system.limits;
        configured.league.token_ttl_hours = system.token_ttl_hours;
        configured.league.token_length = system.token_length;

        Document::read(root.join("games/games_registry.json"))?
            .root(&mut warnings, |section| games::read(section, &mut configured.games))?;
        if let [first, ..] = configured.games.as_slice()
            && !configured.games.contains(&configured.league.game_type)
        {
            configured.league.game_type = first.clone();
        }
        Document::read(root.join("leagues").join(format!("{}.json", configured.league.league_id)))?
            .root(&mut warnings, |section| league::read(section, &mut configured))?;
        let agents = root.join("agents/agents_config.json");
        Document::read(agents.clone())?.root(&mut warnings, |section| configured.agents.read(section))?;
        Document::read(root.join("defaults/referee.json"))?
            .root(&mut warnings, |section| configured.referee.read(section))?;
        Document::read(root.join("defaults/player.json"))?
            .root(&mut warnings, |section| configured.player.read(section))?;

        configured.overlay(&environment)?;
        configured.check()?;
        warnings.extend(configured.astray().map(|what| Warning { path: agents, what }));
        Ok((configured, warnings))
    }

    /// Lays what the command line says of HTTPS over the rest. Where HTTPS is served, the manager of the same network is
    /// looked for there.
    pub(crate) fn with_tls(mut self, said: TlsFiles) -> Result<Self, ConfigError> {
        self.tls = said.laid_over(self.tls);
        if !self.manager_named {
            self.manager = self.network.manager(self.tls.serves())?;
        }
        Ok(self)
    }

    /// Where the referee `id` listens: where it is known to, else by its number.
    pub(crate) fn referee_port(&self, id: &RefereeId) -> Option<u16> {
        let known = self.agents.referees.iter().find(|referee| referee.id == *id);
        let listed = known.and_then(|referee| referee.endpoint.as_ref()).map(Endpoint::port);
        listed.or_else(|| self.network.referee_ports.of(id.number()?))
    }

    /// Where the player `id` listens: where it is known to, else by its number.
    pub(crate) fn player_port(&self, id: &PlayerId) -> Option<u16> {
        let known = self.agents.players.iter().find(|player| player.id == *id);
        let listed = known.and_then(|player| player.endpoint.as_ref()).map(Endpoint::port);
        listed.or_else(|| self.network.player_ports.of(id.number()?))
    }

    /// What is wrong when agents are sent to a port of this host where the manager does not listen. Elsewhere, or behind
    /// TLS, there may be something in between.
    fn astray(&self) -> Option<String> {
        let (found, port) = (self.agents.manager.as_ref()?, self.network.manager_port);
        let here = !found.is_secure() && found.host() == self.network.host && *found == self.manager;
        (here && found.port() != port).then(|| {
            format!("league_manager.endpoint leads to port {}, and the manager listens on {port}", found.port())
        })
    }

    /// Whether the values fit each other: each alone was checked where it was read.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let (least, most) = (self.league.min_players, self.league.max_players);
        if least > most {
            return Err(ConfigError::Players { least, most });
        }
        Ok(())
    }
}

/// Seconds on the command line, within the same bounds as everywhere.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    plain(&rule::seconds(), text)
}

/// As clap wants it, which says itself which flag it is about.
fn plain<T>(rule: &Rule<T>, text: &str) -> Result<T, String> {
    rule.parse(text).ok_or_else(|| String::from(rule.allowed()))
}
