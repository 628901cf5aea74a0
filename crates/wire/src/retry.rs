//! Trying again, within bounds.
//!
//! Only what another try may mend is tried again: a peer that was too slow or not there (E001, E009). The pauses double, and
//! an overall limit ends the whole of it: tries never stretch a deadline.

use std::time::Duration;

use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::table::Call;
use tokio::time::{Instant, sleep};

use crate::client::Client;
use crate::endpoint::Endpoint;
use crate::exchange::{CallError, Exchange};

/// How often, how soon, how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RetryPolicy {
    /// Tries in all; at least one is made.
    pub tries: u32,
    /// The pause before the second try; each further one is twice as long.
    pub base_delay: Duration,
    /// The time for all tries and pauses together.
    pub overall: Duration,
}

impl RetryPolicy {
    /// The pause after the try with this number, counted from one.
    pub fn delay(&self, tried: u32) -> Duration {
        self.base_delay.saturating_mul(2_u32.saturating_pow(tried.saturating_sub(1)))
    }
}

impl Client {
    /// Calls until an answer comes, the tries are used up or the time is. Each try has at most `limit`.
    ///
    /// The error is that of the last try; so is the receipt.
    pub async fn call_with_retries(
        &self,
        policy: RetryPolicy,
        endpoint: &Endpoint,
        manner: &PeerDialect,
        envelope: &Envelope,
        call: &Call,
        limit: Duration,
    ) -> Result<Exchange, CallError> {
        let started = Instant::now();
        let mut tried = 0;
        loop {
            let left = policy.overall.saturating_sub(started.elapsed());
            let error = match self.call(endpoint, manner, envelope, call, limit.min(left)).await {
                Ok(exchange) => return Ok(exchange),
                Err(error) => error,
            };
            tried += 1;
            let pause = policy.delay(tried);
            let too_late = policy.overall.saturating_sub(started.elapsed()) <= pause;
            if !error.is_transient() || tried >= policy.tries || too_late {
                return Err(error);
            }
            sleep(pause).await;
        }
    }
}
