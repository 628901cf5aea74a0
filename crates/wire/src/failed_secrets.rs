//! Counts wrong secrets by client network.
//!
//! A token has 32 random bytes and cannot be guessed; a person may have chosen a join key or an operator's token. A network with too
//! many wrong secrets is refused for a while, even with a right one. Otherwise the answer would confirm a guess.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use crate::client_network::ClientNetwork;
use crate::rate::{KeyedLimiter, Rate, RetryAfter};

const MOST: usize = 16 * 1024;

/// Permits an operator's typing errors and a class of agents whose tokens expired overnight, but too few guesses for a good secret.
pub const USUAL: Rate = Rate::new(5, 200);

#[derive(Debug)]
pub struct FailedSecrets {
    meter: KeyedLimiter<ClientNetwork>,
    out: Mutex<HashMap<ClientNetwork, Instant>>,
}

impl FailedSecrets {
    pub fn new(rate: Rate) -> Self {
        Self { meter: KeyedLimiter::new(rate), out: Mutex::default() }
    }

    /// Fails while too many wrong secrets have come from `client_network`.
    pub fn listen(&self, client_network: ClientNetwork) -> Result<(), RetryAfter> {
        let out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        match out.get(&client_network).map(|until| until.saturating_duration_since(Instant::now())) {
            Some(left) if !left.is_zero() => Err(RetryAfter(left)),
            Some(_) | None => Ok(()),
        }
    }

    pub fn strike(&self, client_network: ClientNetwork) -> Result<(), RetryAfter> {
        let struck = self.meter.pass(&client_network);
        if let Err(wait) = struck {
            let (mut out, now) = (self.out.lock().unwrap_or_else(PoisonError::into_inner), Instant::now());
            if out.len() >= MOST {
                out.retain(|_, until| *until > now);
            }
            if out.len() < MOST {
                out.insert(client_network, now + wait.0);
            }
        }
        struck
    }
}

impl Default for FailedSecrets {
    fn default() -> Self {
        Self::new(USUAL)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_was_wrong_too_often_is_not_listened_to_for_a_while_and_others_are() {
        let strikes = FailedSecrets::new(Rate::new(2, 3));
        let (one, other) = ("192.0.2.7:1", "192.0.2.8:1");
        let [one, other] = [one, other].map(|peer| ClientNetwork::of(peer.parse().unwrap()));
        for _ in 0..3 {
            assert_eq!((strikes.listen(one), strikes.strike(one)), (Ok(()), Ok(())));
        }
        assert_eq!(strikes.listen(one), Ok(()), "the next one is looked at, and is one too many");
        assert!(strikes.strike(one).is_err());
        assert_eq!(strikes.listen(one), Err(RetryAfter(Duration::from_millis(500))));
        assert_eq!(strikes.listen(other), Ok(()));
        tokio::time::advance(Duration::from_millis(500)).await;
        assert_eq!((strikes.listen(one), strikes.strike(one)), (Ok(()), Ok(())));
        assert!(strikes.strike(one).is_err(), "one guess for each time that was waited");
    }
}
