//! How often anybody may ask: `rate_limits` in `system.json`.

use std::sync::Arc;

use league_manager::RateSettings as Manager;
use league_wire::failed_secrets::{self, FailedSecrets};
use league_wire::rate::Rate;
use league_wire::settings::ServerSettings;

use super::error::ConfigError;
use super::rule;
use super::section::Section;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rates {
    /// Registrations, and questions of all kinds.
    pub(crate) manager: Manager,
    /// Tokens and keys that are wrong, from one address.
    failures: Rate,
    /// Pages that are looked at, from one address.
    pub(crate) visits: Rate,
}

impl Default for Rates {
    fn default() -> Self {
        Self { manager: Manager::default(), failures: failed_secrets::USUAL, visits: ServerSettings::default().visits }
    }
}

impl Rates {
    pub(super) fn read(&mut self, section: &mut Section<'_>) -> Result<(), ConfigError> {
        let Self { manager, failures, visits } = self;
        let named = [
            ("registrations", &mut manager.registrations),
            ("registrations_here", &mut manager.registrations_here),
            ("registrations_again", &mut manager.registrations_again),
            ("questions", &mut manager.questions),
            ("strangers", &mut manager.strangers),
            ("failures", failures),
            ("pages", visits),
        ];
        for (key, rate) in named {
            section.within(key, |section| {
                section.take("per_second", &rule::count(), &mut rate.per_second)?;
                section.take("burst", &rule::count(), &mut rate.burst)
            })?;
        }
        Ok(())
    }

    /// The count of secrets that were wrong, for everybody who is shown some.
    pub(crate) fn strikes(&self) -> Arc<FailedSecrets> {
        Arc::new(FailedSecrets::new(self.failures))
    }
}
