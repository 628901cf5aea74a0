//! What a player knows: who it is, where it plays, what it was asked last.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use serde_json::Value;

use crate::message::text;

#[derive(Debug, Default)]
pub(crate) struct State {
    /// The manager's answer to the registration.
    pub(crate) admitted: Value,
    /// The token of its first registration.
    pub(crate) first_token: String,
    /// Where the referees of announced matches listen.
    pub(crate) referees: HashMap<String, String>,
    /// The match that it has not heard the end of.
    pub(crate) playing: Option<String>,
    pub(crate) called: Option<Instant>,
    /// The kinds of calls that it has refused once.
    pub(crate) refused_once: HashSet<String>,
    /// The MCP sessions that are open.
    pub(crate) sessions: HashSet<String>,
    /// How many sessions were ever opened.
    pub(crate) opened: usize,
}

impl State {
    /// The id that the manager gave it.
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
