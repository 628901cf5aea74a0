//! Circuit breakers, one per endpoint.
//!
//! Five failures in a row open the circuit for a minute. Then one probe is sent: success closes the circuit, failure opens it again.
//! Only notices use breakers, because a notice may be dropped; see [`crate::peer_client::PeerClient::send_guarded`].

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::endpoint::Endpoint;

pub const MAX_FAILURES: u32 = 5;

pub const REST: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Breaker {
    Closed {
        failures: u32,
    },
    Open {
        since: Instant,
    },
    HalfOpen {
        /// A probe without an outcome expires like an open circuit.
        probed: Instant,
    },
}

impl Default for Breaker {
    fn default() -> Self {
        Self::Closed { failures: 0 }
    }
}

impl Breaker {
    /// The caller must report the outcome of every admitted call to [`Breaker::note`].
    pub fn admit(&mut self, now: Instant) -> bool {
        match *self {
            Self::Closed { .. } => true,
            Self::Open { since: at } | Self::HalfOpen { probed: at } => {
                let rested = now.duration_since(at) >= REST;
                if rested {
                    *self = Self::HalfOpen { probed: now };
                }
                rested
            }
        }
    }

    pub fn note(&mut self, failed: bool, now: Instant) {
        *self = match (*self, failed) {
            (Self::Closed { .. } | Self::Open { .. } | Self::HalfOpen { .. }, false) => Self::default(),
            (Self::Closed { failures }, true) if failures + 1 < MAX_FAILURES => Self::Closed { failures: failures + 1 },
            (Self::Closed { .. } | Self::HalfOpen { .. }, true) => Self::Open { since: now },
            // A call sent before the circuit opened carries no new information.
            (Self::Open { since }, true) => Self::Open { since },
        };
    }
}

#[derive(Debug, Default)]
pub struct Breakers {
    circuits: Mutex<HashMap<Endpoint, Breaker>>,
}

impl Breakers {
    pub fn admit(&self, endpoint: &Endpoint, now: Instant) -> bool {
        self.circuits().get_mut(endpoint).is_none_or(|breaker| breaker.admit(now))
    }

    /// Counts the outcome of a call and removes the circuit of an endpoint that works.
    pub fn note(&self, endpoint: &Endpoint, failed: bool, now: Instant) {
        let mut circuits = self.circuits();
        if failed {
            circuits.entry(endpoint.clone()).or_default().note(true, now);
        } else {
            circuits.remove(endpoint);
        }
    }

    pub fn of(&self, endpoint: &Endpoint) -> Breaker {
        self.circuits().get(endpoint).copied().unwrap_or_default()
    }

    fn circuits(&self) -> MutexGuard<'_, HashMap<Endpoint, Breaker>> {
        // Every change is a single assignment, so a panic leaves the map consistent.
        self.circuits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use Step::*;

    #[derive(Clone, Copy)]
    enum Step {
        Failures(u32),
        Success,
        Seconds(u64),
        Admitted,
        Refused,
    }

    #[test]
    fn five_failures_open_the_circuit_for_a_minute_and_one_probe_decides() {
        let cases: &[(&str, &[Step])] = &[
            ("four failures do not open it", &[Failures(4), Admitted]),
            ("five do", &[Failures(5), Refused]),
            ("a success restarts the count", &[Failures(4), Success, Failures(4), Admitted]),
            ("after a minute one probe is sent", &[Failures(5), Seconds(59), Refused, Seconds(1), Admitted, Refused]),
            ("a successful probe closes it", &[Failures(5), Seconds(60), Admitted, Success, Admitted, Admitted]),
            (
                "a failed probe opens it again",
                &[Failures(5), Seconds(60), Admitted, Failures(1), Refused, Seconds(59), Refused, Seconds(1), Admitted],
            ),
            ("a lost probe expires", &[Failures(5), Seconds(60), Admitted, Seconds(59), Refused, Seconds(1), Admitted]),
            (
                "a late failure does not extend the rest",
                &[Failures(5), Seconds(50), Failures(1), Seconds(10), Admitted],
            ),
            ("a late success closes it", &[Failures(5), Success, Admitted]),
        ];
        for (case, steps) in cases {
            let (mut breaker, mut now) = (Breaker::default(), Instant::now());
            for step in *steps {
                match step {
                    Failures(count) => (0..*count).for_each(|_| breaker.note(true, now)),
                    Success => {
                        breaker.note(false, now);
                        assert_eq!(breaker, Breaker::default(), "{case}");
                    }
                    Seconds(seconds) => now += Duration::from_secs(*seconds),
                    Admitted => assert!(breaker.admit(now), "{case}"),
                    Refused => assert!(!breaker.admit(now), "{case}"),
                }
            }
        }
    }

    #[test]
    fn every_endpoint_has_its_own_circuit_and_a_closed_one_is_not_stored() {
        let (breakers, now) = (Breakers::default(), Instant::now());
        let (bad, good): (Endpoint, Endpoint) =
            ("http://localhost:1".parse().unwrap(), "http://localhost:2".parse().unwrap());
        (0..5).for_each(|_| breakers.note(&bad, true, now));
        breakers.note(&good, true, now);
        breakers.note(&good, false, now);
        assert!(!breakers.admit(&bad, now) && breakers.admit(&good, now));
        assert_eq!(breakers.circuits().len(), 1);
    }
}
