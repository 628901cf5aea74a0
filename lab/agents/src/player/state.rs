//! The state of a player.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use serde_json::Value;

use crate::message::text;

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) admitted: Value,
    pub(crate) first_token: String,
    /// The endpoints of the referees of announced matches.
    pub(crate) referees: HashMap<String, String>,
    /// The match whose end it does not know yet.
    pub(crate) playing: Option<String>,
    pub(crate) called: Option<Instant>,
    pub(crate) refused_once: HashSet<String>,
    pub(crate) sessions: HashSet<String>,
    pub(crate) opened: usize,
}

impl State {
    pub(crate) fn id(&self) -> &str {
        text(&self.admitted, "player_id")
    }

    pub(crate) fn announced(&mut self, message: &Value) {
        for game in message.get("matches").and_then(Value::as_array).into_iter().flatten() {
            let endpoint = text(game, "referee_endpoint");
            if !endpoint.is_empty() {
                self.referees.insert(text(game, "match_id").to_owned(), endpoint.to_owned());
            }
        }
    }
}
