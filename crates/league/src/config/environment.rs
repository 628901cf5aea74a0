//! The environment, laid over the files. The table of variables is in the head of [`super`].

use std::path::PathBuf;

use league_protocol::message::start_match::span;

use super::Configured;
use super::error::ConfigError;
use super::rule::{self, Rule};
use super::tls::TlsFiles;

/// The variables of the process, or of a test.
pub(super) struct Environment<F>(F);

impl<F: Fn(&str) -> Option<String>> Environment<F> {
    pub(super) fn new(lookup: F) -> Self {
        Self(lookup)
    }

    /// The value of the variable `name`, when it is set.
    fn get<T>(&self, name: &str, rule: &Rule<T>) -> Result<Option<T>, ConfigError> {
        // Compose files and shells set to nothing what they mean to leave out.
        let text = (self.0)(name).filter(|text| !text.trim().is_empty());
        text.map(|text| rule.text(name, text.trim())).transpose()
    }

    /// Replaces `target` by the value of the variable `name`, when it is set.
    pub(super) fn take<T>(&self, name: &str, rule: &Rule<T>, target: &mut T) -> Result<(), ConfigError> {
        if let Some(value) = self.get(name, rule)? {
            *target = value;
        }
        Ok(())
    }
}

impl Configured {
    /// Lays everything over but `LEAGUE_ID`, which had to be known before the league's file.
    pub(super) fn overlay<F: Fn(&str) -> Option<String>>(&mut self, env: &Environment<F>) -> Result<(), ConfigError> {
        let host = env.get("LEAGUE_HOST", &rule::host())?;
        let port = env.get("LEAGUE_MANAGER_PORT", &rule::port())?;
        env.take("LEAGUE_REFEREE_PORTS", &rule::ports(), &mut self.network.referee_ports)?;
        env.take("LEAGUE_PLAYER_PORTS", &rule::ports(), &mut self.network.player_ports)?;
        let named = |name| env.get(name, &rule::file().map(PathBuf::from));
        let (certificate, key) = (named("LEAGUE_TLS_CERT")?, named("LEAGUE_TLS_KEY")?);
        let tls = TlsFiles { certificate, key, authority: named("LEAGUE_CA")? };
        self.tls = tls.laid_over(std::mem::take(&mut self.tls));
        let manager = env.get("LEAGUE_MANAGER", &rule::endpoint())?;
        // Whoever moves the manager by a variable wants it to be found there, whatever the files say.
        let listed = self.agents.manager.clone().filter(|_| host.is_none() && port.is_none());
        self.network.host = host.unwrap_or_else(|| self.network.host.clone());
        self.network.manager_port = port.unwrap_or(self.network.manager_port);
        let named = manager.or(listed);
        self.manager_named = named.is_some();
        self.manager = named.map_or_else(|| self.network.manager(self.tls.serves()), Ok)?;

        env.take("LEAGUE_TOKEN_TTL_HOURS", &rule::hours(), &mut self.league.token_ttl_hours)?;
        if let Some(time) = env.get("LEAGUE_REGISTER_TIMEOUT", &rule::seconds().map(span))? {
            (self.timeouts.register_referee, self.timeouts.register_player) = (time, time);
        }
        env.take("LEAGUE_RESPONSE_TIMEOUT", &rule::seconds().map(span), &mut self.timeouts.response)?;
        let limits = &mut self.league.limits;
        env.take("LEAGUE_JOIN_TIMEOUT", &rule::seconds(), &mut limits.game_join_ack_timeout_sec)?;
        env.take("LEAGUE_MOVE_TIMEOUT", &rule::seconds(), &mut limits.move_timeout_sec)?;
        env.take("LEAGUE_GAME_OVER_TIMEOUT", &rule::seconds(), &mut limits.game_over_timeout_sec)?;
        env.take("LEAGUE_MAX_RETRIES", &rule::tries(), &mut limits.max_retries)?;
        env.take("LEAGUE_RETRY_DELAY", &rule::pause(), &mut limits.base_delay_sec)?;

        env.take("LEAGUE_MIN_PLAYERS", &rule::players(), &mut self.league.min_players)?;
        env.take("LEAGUE_MAX_REFEREES", &rule::referees(), &mut self.league.max_referees)?;
        env.take("LEAGUE_MAX_PLAYERS", &rule::players(), &mut self.league.max_players)?;
        env.take("LEAGUE_STRICT", &rule::truth(), &mut self.league.strict)?;
        env.take("LEAGUE_MAX_MATCHES", &rule::matches(), &mut self.referee.max_concurrent_matches)?;
        env.take("LEAGUE_STRATEGY", &rule::player_strategy(), &mut self.player.strategy)
    }
}
