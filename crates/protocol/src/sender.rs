//! The sender of a message: `league_manager`, `referee:REF01`, `player:P01`, and the other spellings in use.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::{SmolStr, format_smolstr};

use crate::id::{BadId, MAX_ID, PlayerId, RefereeId};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Manager,
    Referee,
    Player,
    Operator,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Manager => "manager",
            Self::Referee => "referee",
            Self::Player => "player",
            Self::Operator => "operator",
        })
    }
}

/// The `sender` of a message, as it was written.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "String")]
pub struct Sender(SmolStr);

impl Sender {
    pub fn manager() -> Self {
        Self(SmolStr::new_static("league_manager"))
    }

    pub fn referee(id: &RefereeId) -> Self {
        Self(format_smolstr!("referee:{id}"))
    }

    pub fn player(id: &PlayerId) -> Self {
        Self(format_smolstr!("player:{id}"))
    }

    /// Drops characters of `name` that an id may not contain.
    pub fn unregistered(role: Role, name: &str) -> Self {
        let plain = name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).take(MAX_ID);
        Self(format_smolstr!("{role}:{}", plain.collect::<SmolStr>()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn role(&self) -> Option<Role> {
        match self.0.split(':').next() {
            Some("league_manager" | "manager") => Some(Role::Manager),
            Some("referee") => Some(Role::Referee),
            Some("player") => Some(Role::Player),
            Some("operator") => Some(Role::Operator),
            Some(_) | None => None,
        }
    }

    /// `league_manager`, or both role and id.
    pub fn is_canonical(&self) -> bool {
        match self.role() {
            Some(Role::Manager) => true,
            Some(Role::Referee | Role::Player | Role::Operator) => self.name().is_some(),
            None => false,
        }
    }

    /// The part after the colon, or the whole text. A role alone is no name.
    fn name(&self) -> Option<&str> {
        match self.0.split_once(':') {
            Some((_, name)) => Some(name).filter(|name| !name.is_empty()),
            None if self.role().is_some() => None,
            None => Some(&self.0),
        }
    }

    /// Also accepts `P01` alone, which some players send.
    pub fn player_id(&self) -> Option<PlayerId> {
        match self.role() {
            Some(Role::Player) | None => self.name()?.parse().ok(),
            Some(Role::Manager | Role::Referee | Role::Operator) => None,
        }
    }

    pub fn referee_id(&self) -> Option<RefereeId> {
        match self.role() {
            Some(Role::Referee) | None => self.name()?.parse().ok(),
            Some(Role::Manager | Role::Player | Role::Operator) => None,
        }
    }
}

impl FromStr for Sender {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        const LIMIT: usize = MAX_ID + 16;
        if text.is_empty() || text.len() > LIMIT {
            return Err(BadId::Length { length: text.len(), limit: LIMIT });
        }
        match text.chars().find(|c| c.is_control()) {
            Some(found) => Err(BadId::Character { found }),
            None => Ok(Self(SmolStr::new(text))),
        }
    }
}

impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_in_use_names_the_same_agent() {
        for text in ["player:P01", "P01"] {
            assert_eq!(text.parse::<Sender>().unwrap().player_id(), Some(PlayerId::numbered(1)), "{text}");
        }
        for text in ["league_manager", "league_manager:LM01"] {
            let sender: Sender = text.parse().unwrap();
            assert_eq!(sender.role(), Some(Role::Manager));
            assert_eq!((sender.player_id(), sender.referee_id()), (None, None));
        }
        assert_eq!("referee:REF01".parse::<Sender>().unwrap().referee_id(), Some(RefereeId::numbered(1)));
        assert_eq!("referee:REF01".parse::<Sender>().unwrap().player_id(), None);
    }

    #[test]
    fn a_role_alone_names_no_agent() {
        for text in ["referee", "player", "player:"] {
            let sender: Sender = text.parse().unwrap();
            assert_eq!((sender.player_id(), sender.referee_id()), (None, None), "{text}");
            assert!(!sender.is_canonical(), "{text}");
        }
        assert!(Sender::manager().is_canonical());
    }

    #[test]
    fn the_sender_of_an_unregistered_agent_has_only_id_characters() {
        assert_eq!(Sender::unregistered(Role::Player, "Agent \"Alpha\"\n").as_str(), "player:AgentAlpha");
    }
}
