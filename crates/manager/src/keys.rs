//! The keys that agents show to register. The manager keeps their digests only.

use std::sync::{PoisonError, RwLock};

use data_encoding::BASE64URL_NOPAD;
use league_protocol::message::operate::KeyRole;
use league_protocol::token::{Credential, TokenDigest};
use league_wire::environment::Environment;

use crate::settings::ManagerSettings;

/// 144 random bits, in characters that need no quotes.
pub fn generate_key(environment: &Environment) -> Credential {
    Credential::new(&format!("key-{}", BASE64URL_NOPAD.encode(&environment.random()[..18])))
}

#[derive(Debug)]
pub(crate) struct JoinKeys {
    referee: RwLock<Option<TokenDigest>>,
    player: RwLock<Option<TokenDigest>>,
}

impl JoinKeys {
    pub(crate) fn new(settings: &ManagerSettings) -> Self {
        Self { referee: RwLock::new(settings.referee_key.clone()), player: RwLock::new(settings.player_key.clone()) }
    }

    fn of(&self, role: KeyRole) -> &RwLock<Option<TokenDigest>> {
        match role {
            KeyRole::Referee => &self.referee,
            KeyRole::Player => &self.player,
        }
    }

    /// True if the league needs no key for this role.
    pub(crate) fn admits(&self, role: KeyRole, shown: Option<&Credential>) -> bool {
        let key = self.of(role).read().unwrap_or_else(PoisonError::into_inner);
        key.as_ref().is_none_or(|key| shown.is_some_and(|shown| shown.opens(key)))
    }

    pub(crate) fn replace(&self, role: KeyRole, key: TokenDigest) {
        *self.of(role).write().unwrap_or_else(PoisonError::into_inner) = Some(key);
    }
}
