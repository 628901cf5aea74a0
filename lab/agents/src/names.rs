//! The names of messages.
//!
//! Public agents agree on message types and on little else: each has its own names for methods and tools, and knows
//! only some of the messages.

/// Message types, the names that most agents use, and those that some use instead.
const KNOWN: &[(&str, &str, &str)] = &[
    ("REFEREE_REGISTER_REQUEST", "register_referee", "referee_register"),
    ("LEAGUE_REGISTER_REQUEST", "register_player", "league_register"),
    ("MATCH_RESULT_REPORT", "report_match_result", "report_match_result"),
    ("LEAGUE_QUERY", "league_query", "query_league"),
    ("GET_ASSIGNED_MATCHES", "get_assigned_matches", "get_assigned_matches"),
    ("START_MATCH", "start_match", "run_match"),
    ("ROUND_ANNOUNCEMENT", "notify_round", "announce_round"),
    ("GAME_INVITATION", "handle_game_invitation", "receive_game_invitation"),
    ("CHOOSE_PARITY_CALL", "choose_parity", "parity_choose"),
    ("GAME_OVER", "notify_match_result", "receive_game_over"),
    ("GAME_ERROR", "notify_game_error", "notify_error"),
    ("GAME_JOIN_ACK", "game_join_ack", "game_join_ack"),
    ("CHOOSE_PARITY_RESPONSE", "choose_parity_response", "choose_parity_response"),
    ("LEAGUE_STANDINGS_UPDATE", "update_standings", "notify_standings"),
    ("ROUND_COMPLETED", "notify_round_completed", "notify_round_completed"),
    ("LEAGUE_COMPLETED", "notify_league_completed", "notify_league_completed"),
    ("SHUTDOWN_COMMAND", "shutdown", "shutdown"),
];

/// Returns the type itself if it has no usual name.
pub fn usual(kind: &str) -> &str {
    KNOWN.iter().find(|(known, ..)| *known == kind).map_or(kind, |(_, usual, _)| usual)
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names(Vec<(String, String)>);

impl Names {
    pub fn usual_for(kinds: &[&str]) -> Self {
        Self(kinds.iter().map(|kind| (usual(kind).to_owned(), (*kind).to_owned())).collect())
    }

    pub fn others_for(kinds: &[&str]) -> Self {
        let known = KNOWN.iter().filter(|(kind, ..)| kinds.contains(kind));
        Self(known.map(|(kind, _, other)| ((*other).to_owned(), (*kind).to_owned())).collect())
    }

    #[must_use]
    pub fn named(mut self, kind: &str, name: &str) -> Self {
        self.0.retain(|(_, of)| of != kind);
        self.0.push((name.to_owned(), kind.to_owned()));
        self
    }

    pub fn kind(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, kind)| kind.as_str())
    }

    /// The usual name if this agent has none.
    pub fn name<'n>(&'n self, kind: &'n str) -> &'n str {
        self.0.iter().find(|(_, of)| of == kind).map_or_else(|| usual(kind), |(name, _)| name)
    }

    pub fn knows(&self, kind: &str) -> bool {
        self.0.iter().any(|(_, of)| of == kind)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, kind)| (name.as_str(), kind.as_str()))
    }
}
