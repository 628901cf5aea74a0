//! Counts wrong secrets by client network.
//!
//! A token has 32 random bytes and cannot be guessed; a person may have chosen a join key or an operator's token. A network with too
//! many wrong secrets is refused for a while, even with a right one. Otherwise the answer would confirm a guess.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use crate::client_network::ClientNetwork;
use crate::rate::{KeyedLimiter, Rate, RetryAfter};

const MAX_BLOCKED: usize = 16 * 1024;

/// Permits an operator's typing errors and a class of agents whose tokens expired overnight, but too few guesses for a good secret.
pub const DEFAULT_RATE: Rate = Rate::new(5, 200);

#[derive(Debug)]
pub struct FailedSecrets {
    limiter: KeyedLimiter<ClientNetwork>,
    blocked: Mutex<HashMap<ClientNetwork, Instant>>,
}

impl FailedSecrets {
    pub fn new(rate: Rate) -> Self {
        Self { limiter: KeyedLimiter::new(rate), blocked: Mutex::default() }
    }

    /// Fails while too many wrong secrets have come from `client_network`.
    pub fn check(&self, client_network: ClientNetwork) -> Result<(), RetryAfter> {
        let blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        match blocked.get(&client_network).map(|until| until.saturating_duration_since(Instant::now())) {
            Some(left) if !left.is_zero() => Err(RetryAfter(left)),
            Some(_) | None => Ok(()),
        }
    }

    pub fn record_failure(&self, client_network: ClientNetwork) -> Result<(), RetryAfter> {
        let recorded = self.limiter.check(&client_network);
        if let Err(wait) = recorded {
            let (mut blocked, now) = (self.blocked.lock().unwrap_or_else(PoisonError::into_inner), Instant::now());
            if blocked.len() >= MAX_BLOCKED {
                blocked.retain(|_, until| *until > now);
            }
            if blocked.len() < MAX_BLOCKED {
                blocked.insert(client_network, now + wait.0);
            }
        }
        recorded
    }
}

impl Default for FailedSecrets {
    fn default() -> Self {
        Self::new(DEFAULT_RATE)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_with_many_wrong_tokens_is_refused_for_a_while() {
        let failures = FailedSecrets::new(Rate::new(2, 3));
        let (one, other) = ("192.0.2.7:1", "192.0.2.8:1");
        let [one, other] = [one, other].map(|peer| ClientNetwork::of(peer.parse().unwrap()));
        for _ in 0..3 {
            assert_eq!((failures.check(one), failures.record_failure(one)), (Ok(()), Ok(())));
        }
        assert_eq!(failures.check(one), Ok(()), "the next one is looked at, and is one too many");
        assert!(failures.record_failure(one).is_err());
        assert_eq!(failures.check(one), Err(RetryAfter(Duration::from_millis(500))));
        assert_eq!(failures.check(other), Ok(()));
        tokio::time::advance(Duration::from_millis(500)).await;
        assert_eq!((failures.check(one), failures.record_failure(one)), (Ok(()), Ok(())));
        assert!(failures.record_failure(one).is_err(), "one guess for each time that was waited");
    }
}
