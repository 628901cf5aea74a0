//! The rules of a league, settled before it opens.

use std::time::Duration;

use league_protocol::id::{GameType, LeagueId};
use league_protocol::message::start_match::MatchLimits;
use league_protocol::token::Token;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::format::KnownFormat;
use super::standings::Scoring;

/// The rules of a league. They are part of the first event, so a league keeps them until its end.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LeagueConfig {
    pub league_id: LeagueId,
    /// The name that people see; the id where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<SmolStr>,
    pub game_type: GameType,
    /// Who meets whom.
    pub format: KnownFormat,
    pub scoring: Scoring,
    pub min_players: u32,
    pub max_players: u32,
    pub max_referees: u32,
    /// The most matches that a referee runs at a time, whatever it claims.
    pub max_referee_capacity: u32,
    pub token_ttl_hours: u32,
    /// How many random bytes a token has, from 16 to 64.
    pub token_length: u8,
    /// A player is suspended after so many technical losses in a row; 0 for never.
    pub suspend_after: u32,
    pub limits: MatchLimits,
    pub strict: bool,
}

impl LeagueConfig {
    /// The most matches that a referee runs at a time where the operator has not said otherwise.
    pub const USUAL_REFEREE_CAPACITY: u32 = 64;

    /// A league of Even/Odd with the usual rules.
    pub fn even_odd(league_id: LeagueId) -> Self {
        Self {
            league_id,
            display_name: None,
            game_type: GameType::even_odd(),
            format: KnownFormat::default(),
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
        }
    }

    pub fn title(&self) -> &str {
        self.display_name.as_deref().unwrap_or(self.league_id.as_str())
    }

    /// The title with the id, where they differ.
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
