//! The options of `league manager`, `league referee` and `league player`.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use league_core::rules::registry::game_named;
use league_core::season::config::StartRule;
use league_core::season::format::KnownFormat;
use league_protocol::id::{GameType, LeagueId, PlayerId, RefereeId};
use league_protocol::message::start_match::MatchLimits;
use league_protocol::token::Credential;
use league_wire::endpoint::Endpoint;
use league_wire::trusted_proxies::{ProxyNetwork, TrustedProxies};
use smol_str::SmolStr;

use super::LeagueChoice;
use crate::config::network::Network;
use crate::config::tls::TlsFiles;
use crate::config::{Configured, seconds_flag};

/// Where an agent listens.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The address to listen at; 0.0.0.0 (or ::) for every address of this machine, so that other machines reach it.
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// The port to listen at; 0 takes a free one. Defaults to the agent's configured port.
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// The URL at which others reach it. By default it is found out: at 0.0.0.0, by the network that leads to the manager.
    /// More URLs, separated by commas, are other names at which it is called, such as that of a proxy.
    #[arg(long, value_name = "URL", value_parser = Endpoint::typed, value_delimiter = ',')]
    pub(crate) advertise: Vec<Endpoint>,
    /// Proxies in front of it, such as an ingress: addresses or networks, as in 10.0.0.0/8,192.0.2.7 (or LEAGUE_TRUSTED_PROXIES).
    /// The clients behind them are known by Forwarded or X-Forwarded-For.
    #[arg(long, value_name = "ADDRESSES", value_delimiter = ',')]
    trusted_proxies: Vec<ProxyNetwork>,
    #[command(flatten)]
    pub(crate) tls: TlsOptions,
}

impl Place {
    pub(crate) fn proxies(&self, configured: &Network) -> TrustedProxies {
        if self.trusted_proxies.is_empty() {
            return configured.trusted_proxies.clone();
        }
        self.trusted_proxies.iter().copied().collect()
    }
}

/// The files of HTTPS; HTTP without them.
#[derive(Debug, Default, Args)]
pub(crate) struct TlsOptions {
    /// Serve HTTPS with the certificate in this PEM file (or LEAGUE_TLS_CERT); needs --tls-key.
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// The certificate's private key, also a PEM file (or LEAGUE_TLS_KEY).
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Trust the authority in this PEM file, beside those of the system (or LEAGUE_CA).
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl TlsOptions {
    pub(crate) fn files(&self) -> TlsFiles {
        let Self { tls_cert, tls_key, ca } = self;
        TlsFiles { certificate: tls_cert.clone(), key: tls_key.clone(), authority: ca.clone() }
    }
}

/// The limits of players.
#[derive(Debug, Args)]
pub(crate) struct LimitOptions {
    /// Seconds to accept an invitation.
    #[arg(long, value_name = "SECONDS", value_parser = seconds_flag)]
    join_timeout: Option<f64>,
    /// Seconds to make a choice.
    #[arg(long, value_name = "SECONDS", value_parser = seconds_flag)]
    move_timeout: Option<f64>,
    /// Seconds before a player is asked again; doubled each time.
    #[arg(long, value_name = "SECONDS", value_parser = seconds_flag)]
    retry_delay: Option<f64>,
}

impl LimitOptions {
    pub(crate) fn override_limits(&self, configured: MatchLimits) -> MatchLimits {
        MatchLimits {
            game_join_ack_timeout_sec: self.join_timeout.unwrap_or(configured.game_join_ack_timeout_sec),
            move_timeout_sec: self.move_timeout.unwrap_or(configured.move_timeout_sec),
            base_delay_sec: self.retry_delay.unwrap_or(configured.base_delay_sec),
            ..configured
        }
    }
}

/// The secrets that a manager asks for.
#[derive(Debug, Args)]
pub(crate) struct SecretOptions {
    /// The operator's token; without one only this machine may operate the league.
    #[arg(long, env = "LEAGUE_OPERATOR_TOKEN", hide_env_values = true)]
    pub(crate) operator_token: Option<Credential>,
    /// The key that referees need to register. Off loopback the manager generates one if none is given.
    #[arg(long, value_name = "KEY", env = "LEAGUE_REFEREE_KEY", hide_env_values = true)]
    pub(crate) referee_key: Option<Credential>,
    /// The key that players need to register.
    #[arg(long, value_name = "KEY", env = "LEAGUE_PLAYER_KEY", hide_env_values = true)]
    pub(crate) player_key: Option<Credential>,
    /// Players need a key; the manager generates one if none is given.
    #[arg(long)]
    pub(crate) players_need_key: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ManagerOptions {
    /// The game, even_odd unless configured; an unknown one lists them all.
    #[arg(long, value_name = "GAME", value_parser = game_named)]
    pub(crate) game: Option<GameType>,
    /// How players are paired: round_robin, swiss or knockout, with parameters as in swiss:rounds=7. docs/formats.md has them all.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<KnownFormat>,
    /// How many games a match has, with the sides swapped in turn; 1 unless configured.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) games_per_match: Option<u32>,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) limits: LimitOptions,
    #[command(flatten)]
    pub(crate) league: LeagueChoice,
    /// Start as soon as this many players are registered.
    #[arg(long)]
    pub(crate) expect_players: Option<u32>,
    /// And this many referees.
    #[arg(long)]
    pub(crate) expect_referees: Option<u32>,
    /// Otherwise start after this many seconds with the agents that are registered.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(..=StartRule::MAX_WINDOW_SEC))]
    pub(crate) registration_window: u64,
    /// Make the league repeatable, and so predictable.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Let matches wait for collect_choices, draw_number and finalize_match, called at their referee: for teaching.
    #[arg(long)]
    pub(crate) stepped: bool,
    #[command(flatten)]
    pub(crate) secrets: SecretOptions,
    /// A host that agents may register although they call from another; may be given several times.
    #[arg(long)]
    pub(crate) allow_host: Vec<String>,
    /// Admit only players that keep every required rule of `league check`; they must listen before they register.
    #[arg(long)]
    pub(crate) require_check: bool,
    /// Wait until no other manager leads the league in --store, then lead it. Give it a home of its own, and otherwise the
    /// options of the others.
    #[arg(long)]
    pub(crate) standby: bool,
    /// Exit when the league is over.
    #[arg(long)]
    pub(crate) exit_when_done: bool,
    /// Print the standings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What referees and players have in common.
#[derive(Debug, Args)]
pub(crate) struct JoinOptions {
    #[command(flatten)]
    pub(crate) place: Place,
    /// The manager's endpoint; by default the configured one, http://localhost:8000/mcp. Several URLs, separated by commas, for
    /// a manager with standbys.
    #[arg(long, value_name = "URL", value_parser = Endpoint::typed, value_delimiter = ',')]
    pub(crate) manager: Vec<Endpoint>,
    /// Accepted for compatibility: an agent plays in the league of its manager.
    #[arg(long, hide = true)]
    pub(crate) league_id: Option<LeagueId>,
    /// The name that tables show.
    #[arg(long)]
    pub(crate) name: Option<SmolStr>,
    /// Give up with an error after this many tries to reach the manager; by default the agent keeps trying.
    #[arg(long, value_name = "TRIES")]
    pub(crate) give_up_after: Option<NonZeroU32>,
    /// The directory of its configuration and files.
    #[arg(long, default_value = "SHARED")]
    pub(crate) home: PathBuf,
    /// The key of its role, if the league has one.
    #[arg(long, env = "LEAGUE_JOIN_KEY", hide_env_values = true)]
    pub(crate) join_key: Option<Credential>,
}

impl JoinOptions {
    /// At least one.
    pub(crate) fn managers(&self, configured: &Configured) -> Vec<Endpoint> {
        if !self.manager.is_empty() {
            return self.manager.clone();
        }
        [&configured.manager].into_iter().chain(&configured.other_managers).cloned().collect()
    }
}

#[derive(Debug, Args)]
pub(crate) struct RefereeOptions {
    /// The game to offer; every configured one if not given.
    #[arg(long, value_name = "GAME", value_parser = game_named)]
    pub(crate) game: Option<GameType>,
    #[command(flatten)]
    pub(crate) join: JoinOptions,
    /// The id that it asks for, like REF01.
    #[arg(long)]
    pub(crate) referee_id: Option<RefereeId>,
    /// How many matches it runs at a time; 16 unless configured.
    #[arg(long, visible_alias = "concurrency", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) capacity: Option<u32>,
    /// Ask the manager for matches instead of being called: for a referee that the manager cannot reach.
    #[arg(long)]
    pub(crate) pull: bool,
    /// The operator's token; without one only this machine may start friendly matches and step through matches here.
    #[arg(long, env = "LEAGUE_OPERATOR_TOKEN", hide_env_values = true)]
    pub(crate) operator_token: Option<Credential>,
}

#[derive(Debug, Args)]
pub(crate) struct PlayerOptions {
    /// The game to offer; every game of the strategy if not given.
    #[arg(long, value_name = "GAME", value_parser = game_named)]
    pub(crate) game: Option<GameType>,
    #[command(flatten)]
    pub(crate) join: JoinOptions,
    /// The id that it asks for, like P01.
    #[arg(long)]
    pub(crate) player_id: Option<PlayerId>,
    /// Its strategy, random unless configured; an unknown one lists them all.
    #[arg(long)]
    pub(crate) strategy: Option<String>,
}
