//! The configuration files as they are written.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use league_core::season::format::KnownFormat;
use league_core::season::standings::{DoubleForfeit, Scoring, TieBreak};
use league_manager::RateSettings;
use league_protocol::id::{GameType, LeagueId};
use league_protocol::message::start_match::{Backoff, MatchLimits};
use league_protocol::token::Token;
use league_wire::failed_secrets::{self, FailedSecrets};
use league_wire::rate::Rate;
use league_wire::settings::ServerSettings;
use serde::Deserialize;
use serde::de::IgnoredAny;
use smol_str::SmolStr;

use super::network::Network;
use super::values::{always_true, duration, games, name, object, path, pause, player_strategy, seconds, whole};

/// `system.json`: applies to every league of a home.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SystemFile {
    #[serde(default, rename = "protocol_version")]
    _protocol_version: Protocol,
    pub(super) default_league_id: LeagueId,
    #[serde(default, deserialize_with = "object")]
    pub(super) network: Network,
    #[serde(default, deserialize_with = "object")]
    pub(super) security: Security,
    #[serde(default, deserialize_with = "object")]
    pub(super) timeouts: Timeouts,
    #[serde(default, deserialize_with = "object")]
    pub(super) rate_limits: Rates,
    #[serde(default, deserialize_with = "object")]
    retry_policy: RetryPolicy,
}

impl SystemFile {
    pub(super) fn match_limits(&self) -> MatchLimits {
        MatchLimits {
            game_join_ack_timeout_sec: self.timeouts.game_join_ack_timeout_sec,
            move_timeout_sec: self.timeouts.move_timeout_sec,
            game_over_timeout_sec: self.timeouts.game_over_timeout_sec,
            max_retries: self.retry_policy.max_retries,
            base_delay_sec: self.retry_policy.base_delay_sec,
            backoff_strategy: self.retry_policy.backoff_strategy,
        }
    }
}

#[derive(Default, Deserialize)]
enum Protocol {
    #[default]
    #[serde(rename = "league.v2")]
    V2,
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Security {
    #[serde(rename = "enable_auth_tokens", deserialize_with = "always_true")]
    _enable_auth_tokens: (),
    #[serde(deserialize_with = "whole::<16, 64, _, _>")]
    pub(super) token_length: u8,
    #[serde(deserialize_with = "whole::<1, 8760, _, _>")]
    pub(super) token_ttl_hours: u32,
    #[serde(deserialize_with = "path")]
    pub(super) tls_certificate: Option<PathBuf>,
    #[serde(deserialize_with = "path")]
    pub(super) tls_key: Option<PathBuf>,
    #[serde(deserialize_with = "path")]
    pub(super) tls_authority: Option<PathBuf>,
}

impl Default for Security {
    fn default() -> Self {
        Self {
            _enable_auth_tokens: (),
            token_length: Token::USUAL_LENGTH,
            token_ttl_hours: 24,
            tls_certificate: None,
            tls_key: None,
            tls_authority: None,
        }
    }
}

/// The times of a match become a part of [`MatchLimits`].
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Timeouts {
    #[serde(rename = "register_referee_timeout_sec", deserialize_with = "duration")]
    pub(crate) register_referee: Duration,
    #[serde(rename = "register_player_timeout_sec", deserialize_with = "duration")]
    pub(crate) register_player: Duration,
    /// Applies to every call without its own time.
    #[serde(rename = "generic_response_timeout_sec", deserialize_with = "duration")]
    pub(crate) response: Duration,
    #[serde(deserialize_with = "seconds")]
    game_join_ack_timeout_sec: f64,
    #[serde(deserialize_with = "seconds")]
    move_timeout_sec: f64,
    #[serde(deserialize_with = "seconds")]
    game_over_timeout_sec: f64,
}

impl Default for Timeouts {
    fn default() -> Self {
        let (usual, limits) = (Duration::from_secs(10), MatchLimits::default());
        Self {
            register_referee: usual,
            register_player: usual,
            response: usual,
            game_join_ack_timeout_sec: limits.game_join_ack_timeout_sec,
            move_timeout_sec: limits.move_timeout_sec,
            game_over_timeout_sec: limits.game_over_timeout_sec,
        }
    }
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RetryPolicy {
    backoff_strategy: Backoff,
    #[serde(deserialize_with = "whole::<1, 10, _, _>")]
    max_retries: u8,
    #[serde(deserialize_with = "pause")]
    base_delay_sec: f64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        let MatchLimits { backoff_strategy, max_retries, base_delay_sec, .. } = MatchLimits::default();
        Self { backoff_strategy, max_retries, base_delay_sec }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(from = "RateLimits")]
pub(crate) struct Rates {
    pub(crate) manager: RateSettings,
    failures: Rate,
    pub(crate) visits: Rate,
}

impl Default for Rates {
    fn default() -> Self {
        RateLimits::default().into()
    }
}

impl Rates {
    pub(crate) fn strikes(&self) -> Arc<FailedSecrets> {
        Arc::new(FailedSecrets::new(self.failures))
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RateLimits {
    registrations: RateKeys,
    registrations_here: RateKeys,
    registrations_again: RateKeys,
    questions: RateKeys,
    strangers: RateKeys,
    failures: RateKeys,
    pages: RateKeys,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RateKeys {
    #[serde(deserialize_with = "whole::<1, 1_000_000, _, _>")]
    per_second: Option<u32>,
    #[serde(deserialize_with = "whole::<1, 1_000_000, _, _>")]
    burst: Option<u32>,
}

impl RateKeys {
    fn over(&self, usual: Rate) -> Rate {
        let (per_second, burst) = (usual.per_second.get(), usual.burst.get());
        Rate::new(self.per_second.unwrap_or(per_second), self.burst.unwrap_or(burst))
    }
}

impl From<RateLimits> for Rates {
    fn from(keys: RateLimits) -> Self {
        let usual = RateSettings::default();
        Self {
            manager: RateSettings {
                registrations: keys.registrations.over(usual.registrations),
                registrations_here: keys.registrations_here.over(usual.registrations_here),
                registrations_again: keys.registrations_again.over(usual.registrations_again),
                questions: keys.questions.over(usual.questions),
                strangers: keys.strangers.over(usual.strangers),
            },
            failures: keys.failures.over(failed_secrets::DEFAULT_RATE),
            visits: keys.pages.over(ServerSettings::default().page_rate),
        }
    }
}

/// `leagues/<league_id>.json`: one league.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LeagueFile {
    pub(super) league_id: Option<LeagueId>,
    #[serde(rename = "status")]
    _status: Status,
    #[serde(deserialize_with = "name")]
    pub(super) display_name: Option<SmolStr>,
    pub(super) game_type: Option<GameType>,
    pub(super) strict: bool,
    #[serde(deserialize_with = "object")]
    pub(super) scoring: ScoringSection,
    #[serde(deserialize_with = "object")]
    pub(super) scheduling: Scheduling,
    #[serde(deserialize_with = "object")]
    pub(super) participants: Participants,
}

/// A league with another status is not played.
#[derive(Default, Deserialize)]
enum Status {
    #[default]
    #[serde(rename = "ACTIVE")]
    Active,
}

#[derive(Default, Deserialize)]
#[serde(transparent)]
pub(super) struct ScoringSection(#[serde(with = "ScoringKeys")] pub(super) Scoring);

#[derive(Deserialize)]
#[serde(remote = "Scoring", default = "Scoring::default", deny_unknown_fields)]
struct ScoringKeys {
    #[serde(deserialize_with = "whole::<0, 1000, _, _>")]
    win_points: u32,
    #[serde(deserialize_with = "whole::<0, 1000, _, _>")]
    draw_points: u32,
    #[serde(deserialize_with = "whole::<0, 1000, _, _>")]
    loss_points: u32,
    #[serde(deserialize_with = "whole::<0, 1000, _, _>")]
    technical_loss_points: u32,
    double_forfeit: DoubleForfeit,
    tiebreakers: Vec<TieBreak>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Scheduling {
    pub(super) format: KnownFormat,
    #[serde(deserialize_with = "whole::<1, 1000, _, _>")]
    pub(super) games_per_match: Option<u32>,
    #[serde(rename = "matches_per_round")]
    _matches_per_round: IgnoredAny,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Participants {
    #[serde(deserialize_with = "whole::<2, 10_000, _, _>")]
    pub(super) min_players: Option<u32>,
    #[serde(deserialize_with = "whole::<2, 10_000, _, _>")]
    pub(super) max_players: Option<u32>,
    #[serde(deserialize_with = "whole::<1, 10_000, _, _>")]
    pub(super) max_referees: Option<u32>,
}

/// `games/games_registry.json`: which of the known games are offered.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct GamesFile {
    pub(super) games: Vec<RegisteredGame>,
}

#[derive(Deserialize)]
pub(super) struct RegisteredGame {
    pub(super) game_type_id: Option<GameType>,
    pub(super) game_type: Option<GameType>,
}

/// `defaults/referee.json`.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RefereeDefaults {
    /// The games registry decides what is offered; here the games only have to be known.
    #[serde(rename = "game_types", deserialize_with = "games")]
    _game_types: Vec<GameType>,
    #[serde(deserialize_with = "whole::<1, 10_000, _, _>")]
    pub(crate) max_concurrent_matches: u32,
}

/// `defaults/player.json`.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PlayerDefaults {
    #[serde(rename = "game_types", deserialize_with = "games")]
    _game_types: Vec<GameType>,
    #[serde(deserialize_with = "player_strategy")]
    pub(crate) strategy: SmolStr,
}

impl Default for RefereeDefaults {
    fn default() -> Self {
        // A match mostly waits, and one slow player should not delay a round of ten.
        Self { _game_types: Vec::new(), max_concurrent_matches: 16 }
    }
}

impl Default for PlayerDefaults {
    fn default() -> Self {
        Self { _game_types: Vec::new(), strategy: SmolStr::new_static("random") }
    }
}
