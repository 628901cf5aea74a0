//! Counts wrong secrets by client network and slows the answers to further wrong ones.
//!
//! A right secret always works: otherwise wrong tokens from the operator's address would keep the operator out. Secrets that
//! a person chooses have at least [`MIN_SECRET`](league_protocol::token::MIN_SECRET) characters, so guessing finds none.

use crate::client_network::ClientNetwork;
use crate::rate::{KeyedLimiter, Rate, RetryAfter};

/// Permits an operator's typing errors and a class of agents whose tokens expired overnight.
pub const DEFAULT_RATE: Rate = Rate::new(5, 200);

#[derive(Debug)]
pub struct FailedSecrets(KeyedLimiter<ClientNetwork>);

impl FailedSecrets {
    pub fn new(rate: Rate) -> Self {
        Self(KeyedLimiter::new(rate))
    }

    /// Counts a wrong secret. Fails when too many came from `client_network`.
    pub fn record_failure(&self, client_network: ClientNetwork) -> Result<(), RetryAfter> {
        self.0.check(&client_network)
    }
}

impl Default for FailedSecrets {
    fn default() -> Self {
        Self::new(DEFAULT_RATE)
    }
}
