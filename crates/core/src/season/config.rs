//! What is settled before a league opens.

use std::time::Duration;

use league_protocol::id::{GameType, LeagueId};
use league_protocol::message::start_match::MatchLimits;
use league_protocol::token::Token;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::standings::Scoring;

/// What is settled before a league opens. It is part of the first event, so a league keeps its rules for ever.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LeagueConfig {
    pub league_id: LeagueId,
    /// What people call it; its id where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<SmolStr>,
    pub game_type: GameType,
    #[serde(default)]
    pub scoring: Scoring,
    #[serde(default = "two")]
    pub min_players: u32,
    #[serde(default = "many")]
    pub max_players: u32,
    #[serde(default = "thousand")]
    pub max_referees: u32,
    /// How long a token is good for.
    #[serde(default = "a_day")]
    pub token_ttl_hours: u32,
    /// How many random bytes a token has, from 16 to 64.
    #[serde(default = "usual_token", skip_serializing_if = "is_usual_token")]
    pub token_length: u8,
    /// After so many technical losses running a player is suspended.
    #[serde(default = "five")]
    pub suspend_after: u32,
    #[serde(default)]
    pub limits: MatchLimits,
    #[serde(default)]
    pub strict: bool,
}

fn two() -> u32 {
    2
}

fn five() -> u32 {
    5
}

fn thousand() -> u32 {
    1000
}

fn many() -> u32 {
    10_000
}

fn a_day() -> u32 {
    24
}

fn usual_token() -> u8 {
    Token::USUAL_LENGTH
}

fn is_usual_token(length: &u8) -> bool {
    *length == Token::USUAL_LENGTH
}

impl LeagueConfig {
    /// A league of Even/Odd with everything as usual.
    pub fn even_odd(league_id: LeagueId) -> Self {
        Self {
            league_id,
            display_name: None,
            game_type: GameType::even_odd(),
            scoring: Scoring::default(),
            min_players: two(),
            max_players: many(),
            max_referees: thousand(),
            token_ttl_hours: a_day(),
            token_length: usual_token(),
            suspend_after: five(),
            limits: MatchLimits::default(),
            strict: false,
        }
    }

    pub fn title(&self) -> &str {
        self.display_name.as_deref().unwrap_or(self.league_id.as_str())
    }

    /// The same with the id, where they differ.
    pub fn label(&self) -> String {
        match &self.display_name {
            Some(name) => format!("{name} ({})", self.league_id),
            None => self.league_id.to_string(),
        }
    }

    /// How long a token is good for.
    pub fn token_ttl(&self) -> Duration {
        Duration::from_secs(u64::from(self.token_ttl_hours) * 3600)
    }
}
