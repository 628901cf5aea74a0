//! What a referee may teach the manager about a player. A referee may lie, so each name is checked against the call table.

use smol_str::SmolStr;
use thiserror::Error;

use super::PeerDialect;
use crate::sender::Role;
use crate::table::{Method, TABLE};

/// Why the manager does not take a dialect from a referee.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadLesson {
    #[error("{call} cannot be called {name}, because that is {other}")]
    OtherCall { call: &'static str, name: SmolStr, other: &'static str },
    #[error("{0:?} is not a name of a league call")]
    NotAName(SmolStr),
    #[error("referees do not make the call {0}")]
    NotOfReferees(&'static str),
    #[error("a referee does not decide that {0} is unknown to a player")]
    Unknown(&'static str),
    #[error("the endpoint names a path, and the dialect names another")]
    OtherPath,
}

fn is_made_by_referees(method: Method) -> bool {
    let row = method.row();
    row.from == [Role::Referee] && row.to.contains(&Role::Player)
}

/// A name that leads to `call` or to no call of the league. A method of MCP contains a slash.
fn check_name(call: Option<Method>, name: &str) -> Result<(), BadLesson> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(is_word) || name == "initialize" {
        return Err(BadLesson::NotAName(SmolStr::new(name)));
    }
    // Peers may fold case and separators.
    let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_', '.'], "");
    let wanted = plain(name);
    let is_name_of = |method: Method| {
        let row = method.row();
        std::iter::once(&row.name).chain(row.aliases).chain(&row.message).any(|known| plain(known) == wanted)
    };
    if call.is_some_and(is_name_of) {
        return Ok(());
    }
    match TABLE.iter().find(|row| is_name_of(row.method)) {
        None => Ok(()),
        Some(other) => Err(BadLesson::OtherCall {
            call: call.map_or("every call", |call| call.row().name),
            name: SmolStr::new(name),
            other: other.name,
        }),
    }
}

impl PeerDialect {
    /// The part that concerns the calls of referees: what an honest referee teaches. The manager finds out the rest itself, and
    /// whether a player knows a notice.
    #[must_use]
    pub fn of_referees(&self) -> Self {
        let mut own = self.clone();
        own.calls.retain(|call| is_made_by_referees(call.method) && !call.unknown);
        own
    }

    /// Accepts only names that cannot lead a player to another call. `names_path` says whether the player's endpoint does.
    pub fn check_lesson(&self, names_path: bool) -> Result<(), BadLesson> {
        if self.at_root && names_path {
            return Err(BadLesson::OtherPath);
        }
        if let Some(name) = &self.one_name {
            check_name(None, name)?;
        }
        for call in &self.calls {
            if !is_made_by_referees(call.method) {
                return Err(BadLesson::NotOfReferees(call.method.row().name));
            }
            if call.unknown {
                return Err(BadLesson::Unknown(call.method.row().name));
            }
            if let Some(name) = &call.name {
                check_name(Some(call.method), name)?;
            }
        }
        Ok(())
    }

    /// Calls `method` by its usual name and with the whole message.
    #[must_use]
    pub fn with_usual(&self, method: Method) -> Self {
        self.without_call(method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::ArgumentShape;
    use crate::frame::Frame;

    #[test]
    fn a_lesson_cannot_lead_to_another_call() {
        let canonical = PeerDialect::default();
        for name in
            ["shutdown", "ping", "SHUTDOWN_COMMAND", "Shut-Down", "update_standings", "initialize", "tools/list", ""]
        {
            let one = canonical.calling(Method::ChooseParity, name);
            assert!(one.check_lesson(false).is_err(), "{name}");
            assert!(canonical.with_one_name(name).check_lesson(false).is_err(), "{name}");
        }
        for method in [Method::UpdateStandings, Method::NotifyRound, Method::Shutdown, Method::StartMatch] {
            assert_eq!(
                canonical.calling(method, "anything").check_lesson(false),
                Err(BadLesson::NotOfReferees(method.row().name))
            );
        }
        assert!(canonical.without(Method::NotifyMatchResult).check_lesson(false).is_err());
        assert!(canonical.at_root().check_lesson(true).is_err());
    }

    #[test]
    fn what_players_of_other_make_understand_can_be_taught() {
        let tools = PeerDialect::from(Frame::Tool)
            .calling(Method::GameInvitation, "receive_game_invitation")
            .calling(Method::ChooseParity, "my.choose_parity_2")
            .shaped(Method::ChooseParity, ArgumentShape::Fields(vec!["match_id".into()]));
        for dialect in [tools.clone(), PeerDialect::default().with_one_name("mcp_message").at_root().posting()] {
            assert_eq!(dialect.check_lesson(false), Ok(()), "{dialect}");
        }
        for row in TABLE.iter().filter(|row| is_made_by_referees(row.method)) {
            for name in std::iter::once(&row.name).chain(row.aliases).chain(&row.message) {
                assert_eq!(PeerDialect::default().calling(row.method, name).check_lesson(true), Ok(()), "{name}");
            }
        }
        let more = tools.calling(Method::UpdateStandings, "standings").without(Method::NotifyGameError);
        assert_eq!(more.of_referees(), tools);
    }
}
