use std::num::NonZeroU32;
use std::time::Duration;

use league_protocol::id::{GameType, LeagueId};
use league_protocol::message::start_match::MatchLimits;
use league_protocol::token::Token;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thiserror::Error;

use super::format::KnownFormat;
use super::lots::LotSource;
use super::standings::Scoring;
use crate::record::{is_one, one};
use crate::rules::game::{About, Game};
use crate::rules::registry::new_game;
use crate::rules::series::{Series, most_games};

#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{found} games per match of {game} do not fit into a report of 64 KiB; choose at most {most}")]
pub struct TooManyGames {
    pub found: NonZeroU32,
    pub game: GameType,
    pub most: NonZeroU32,
}

/// When a league begins without its operator. Each part is optional.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StartRule {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_players: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_referees: Option<u32>,
    /// How long the manager waits for the expected agents before it starts with those that are registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registration_window_sec: Option<u64>,
}

impl StartRule {
    /// A year: the end of a window must be a time that the clock can express.
    pub const MAX_WINDOW_SEC: u64 = 365 * 24 * 3600;

    pub fn window(&self) -> Option<Duration> {
        self.registration_window_sec.map(|seconds| Duration::from_secs(seconds.min(Self::MAX_WINDOW_SEC)))
    }
}

/// Part of the first event, so the rules never change during a league.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LeagueConfig {
    pub league_id: LeagueId,
    /// The league id is shown when it is unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<SmolStr>,
    pub game_type: GameType,
    /// How many games a match has, with the sides swapped in turn.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub games_per_match: NonZeroU32,
    pub format: KnownFormat,
    /// Only in formats that draw lots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lots: Option<LotSource>,
    pub scoring: Scoring,
    pub min_players: u32,
    pub max_players: u32,
    pub max_referees: u32,
    /// Limits the capacity that a referee claims.
    pub max_referee_capacity: u32,
    pub token_ttl_hours: u32,
    /// Random bytes in a token, from 16 to 64.
    pub token_length: u8,
    /// Technical losses in a row that suspend a player; 0 for never.
    pub suspend_after: u32,
    pub limits: MatchLimits,
    pub strict: bool,
    /// Only in leagues that any process of `league serve` may lead. Other managers have it from their operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<StartRule>,
}

impl LeagueConfig {
    pub const USUAL_REFEREE_CAPACITY: u32 = 64;

    pub fn even_odd(league_id: LeagueId) -> Self {
        Self {
            league_id,
            display_name: None,
            game_type: GameType::even_odd(),
            games_per_match: one(),
            format: KnownFormat::default(),
            lots: None,
            scoring: Scoring::default(),
            min_players: 2,
            max_players: 10_000,
            max_referees: 1000,
            max_referee_capacity: Self::USUAL_REFEREE_CAPACITY,
            token_ttl_hours: 24,
            token_length: Token::USUAL_LENGTH,
            suspend_after: 5,
            limits: MatchLimits::default(),
            strict: false,
            start: None,
        }
    }

    /// Tie-breaks that the operator did not set follow the format.
    #[must_use]
    pub fn with_format(mut self, format: KnownFormat) -> Self {
        if self.scoring.tiebreakers == self.format.tiebreakers() {
            self.scoring.tiebreakers = format.tiebreakers();
        }
        Self { format, ..self }
    }

    /// Nothing changes without a number.
    #[must_use]
    pub fn with_games(self, games_per_match: Option<u32>) -> Self {
        let games_per_match = games_per_match.and_then(NonZeroU32::new).unwrap_or(self.games_per_match);
        Self { games_per_match, ..self }
    }

    /// `random` decides the lots of formats that draw them.
    #[must_use]
    pub fn with_lots(self, random: [u8; 32]) -> Self {
        Self { lots: self.format.draws_lots().then(|| LotSource::new(random)), ..self }
    }

    /// Of a whole match, with all its games; `None` for an unknown game.
    pub fn match_about(&self) -> Option<About> {
        Some(Series::new(new_game(&self.game_type)?, self.games_per_match).about())
    }

    /// Says what to change when a match has more games than its report can hold.
    pub fn check_games(&self) -> Result<(), TooManyGames> {
        let most = most_games(&self.game_type);
        if self.games_per_match <= most {
            return Ok(());
        }
        Err(TooManyGames { found: self.games_per_match, game: self.game_type.clone(), most })
    }

    pub fn title(&self) -> &str {
        self.display_name.as_deref().unwrap_or(self.league_id.as_str())
    }

    pub fn label(&self) -> String {
        match &self.display_name {
            Some(name) => format!("{name} ({})", self.league_id),
            None => self.league_id.to_string(),
        }
    }

    pub fn token_ttl(&self) -> Duration {
        Duration::from_secs(u64::from(self.token_ttl_hours) * 3600)
    }
}
