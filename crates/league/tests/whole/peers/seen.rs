//! A client's view of a server, for every client language.

use league_protocol::sender::Role;
use league_protocol::table::TABLE;
use serde::Deserialize;
use serde_json::Value;

use super::Server;

/// The newest revision with a handshake.
pub(super) const HANDSHAKE: &str = "2025-11-25";
/// The revision without a handshake.
pub(super) const MODERN: &str = "2026-07-28";

#[derive(Debug, Deserialize)]
pub(super) struct Seen {
    /// `None` if the client does not tell.
    pub(super) revision: Option<String>,
    pub(super) tools: Vec<String>,
    pub(super) answer: Value,
    pub(super) good_is_error: bool,
    pub(super) bad_is_error: bool,
    pub(super) bad_says: String,
    /// The answer to a call of an unknown tool.
    pub(super) refusal: Option<String>,
}

impl Seen {
    /// Compares the session with the call table.
    pub(super) fn check(&self, server: &Server, revision: Option<&str>) {
        let role = match server.role {
            "manager" => Role::Manager,
            "referee" => Role::Referee,
            _ => Role::Player,
        };
        let own: Vec<_> = TABLE.iter().filter(|row| row.to.contains(&role)).map(|row| row.name).collect();
        assert_eq!(self.tools[..own.len()], own, "{}", server.role);
        assert!(!self.good_is_error && self.bad_is_error, "{self:?}");
        assert!(self.answer["sender"].as_str().is_some_and(|sender| sender.contains(server.role)), "{self:?}");
        assert!(self.bad_says.contains("LEAGUE_ERROR"), "{self:?}");
        assert!(self.refusal.as_ref().is_some_and(|text| text.contains("no_such_tool")), "{self:?}");
        if let (Some(expected), Some(spoken)) = (revision, &self.revision) {
            assert_eq!(spoken, expected);
        }
    }
}
