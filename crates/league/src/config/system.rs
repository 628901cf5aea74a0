//! `system.json`: what holds for every league of a home.

use std::path::Path;

use league_protocol::envelope::PROTOCOL;
use league_protocol::id::LeagueId;
use league_protocol::message::start_match::{Backoff, MatchLimits, span};
use league_protocol::token::Token;

use super::error::ConfigError;
use super::network::Network;
use super::rates::Rates;
use super::section::Section;
use super::tls::TlsFiles;
use super::{Timeouts, rule};

/// What is read from the file.
pub(super) struct System {
    pub(super) default_league_id: Option<LeagueId>,
    pub(super) network: Network,
    pub(super) tls: TlsFiles,
    pub(super) timeouts: Timeouts,
    pub(super) limits: MatchLimits,
    pub(super) token_ttl_hours: u32,
    pub(super) token_length: u8,
    pub(super) rates: Rates,
}

impl Default for System {
    fn default() -> Self {
        Self {
            default_league_id: None,
            network: Network::default(),
            tls: TlsFiles::default(),
            timeouts: Timeouts::default(),
            limits: MatchLimits::default(),
            token_ttl_hours: 24,
            token_length: Token::USUAL_LENGTH,
            rates: Rates::default(),
        }
    }
}

impl System {
    /// Reads the file, which is in the directory `root`.
    pub(super) fn read(&mut self, file: &mut Section<'_>, root: &Path) -> Result<(), ConfigError> {
        file.get("schema_version", &rule::version("1."))?;
        file.get("protocol_version", &rule::only(PROTOCOL))?;
        file.ignore(&["system_id", "last_updated"]);
        self.default_league_id = file.get("default_league_id", &rule::id())?;
        file.within("network", |section| {
            let network = &mut self.network;
            section.take("base_host", &rule::host(), &mut network.host)?;
            section.take("default_league_manager_port", &rule::port(), &mut network.manager_port)?;
            section.take("default_referee_port_range", &rule::ports(), &mut network.referee_ports)?;
            section.take("default_player_port_range", &rule::ports(), &mut network.player_ports)
        })?;
        file.within("security", |section| {
            section.get("enable_auth_tokens", &rule::tokens_on())?;
            section.take("token_length", &rule::token_length(), &mut self.token_length)?;
            self.tls.read(section, root)?;
            section.take("token_ttl_hours", &rule::hours(), &mut self.token_ttl_hours)
        })?;
        file.within("timeouts", |section| {
            let (timeouts, limits) = (&mut self.timeouts, &mut self.limits);
            let spans = rule::seconds().map(span);
            section.take("register_referee_timeout_sec", &spans, &mut timeouts.register_referee)?;
            section.take("register_player_timeout_sec", &spans, &mut timeouts.register_player)?;
            section.take("generic_response_timeout_sec", &spans, &mut timeouts.response)?;
            section.take("game_join_ack_timeout_sec", &rule::seconds(), &mut limits.game_join_ack_timeout_sec)?;
            section.take("move_timeout_sec", &rule::seconds(), &mut limits.move_timeout_sec)?;
            section.take("game_over_timeout_sec", &rule::seconds(), &mut limits.game_over_timeout_sec)
        })?;
        file.within("rate_limits", |section| self.rates.read(section))?;
        file.within("retry_policy", |section| {
            let backoff = rule::one_of(&[("exponential", Backoff::Exponential), ("linear", Backoff::Linear)]);
            section.take("backoff_strategy", &backoff, &mut self.limits.backoff_strategy)?;
            section.take("max_retries", &rule::tries(), &mut self.limits.max_retries)?;
            section.take("base_delay_sec", &rule::pause(), &mut self.limits.base_delay_sec)
        })
    }
}
