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

    #[derive(Clone, Copy)]
    enum Then {
        Fails,
        Works,
        Waits(u64),
        IsAdmitted,
        IsRefused,
    }
    use Then::*;

    fn follow(steps: &[Then]) -> Breaker {
        let (mut breaker, mut now) = (Breaker::default(), Instant::now());
        for (place, step) in steps.iter().enumerate() {
            match step {
                Fails => breaker.note(true, now),
                Works => breaker.note(false, now),
                Waits(seconds) => now += Duration::from_secs(*seconds),
                IsAdmitted => assert!(breaker.admit(now), "step {place}"),
                IsRefused => assert!(!breaker.admit(now), "step {place}"),
            }
        }
        breaker
    }

    #[test]
    fn four_failures_are_bad_luck_and_five_open_the_circuit() {
        follow(&[Fails, Fails, Fails, Fails, IsAdmitted]);
        follow(&[Fails, Fails, Fails, Fails, Fails, IsRefused]);
    }

    #[test]
    fn a_success_in_between_starts_the_count_again() {
        follow(&[Fails, Fails, Fails, Fails, Works, Fails, Fails, Fails, Fails, IsAdmitted]);
    }

    #[test]
    fn after_a_minute_one_probe_goes_out_and_only_one() {
        follow(&[Fails, Fails, Fails, Fails, Fails, Waits(59), IsRefused, Waits(1), IsAdmitted, IsRefused]);
    }

    #[test]
    fn a_probe_that_works_closes_the_circuit_and_one_that_fails_opens_it_again() {
        let open = [Fails, Fails, Fails, Fails, Fails, Waits(60), IsAdmitted];
        let closed = follow(&[&open[..], &[Works, IsAdmitted, IsAdmitted]].concat());
        assert_eq!(closed, Breaker::default());
        follow(&[&open[..], &[Fails, IsRefused, Waits(59), IsRefused, Waits(1), IsAdmitted]].concat());
    }

    #[test]
    fn a_probe_that_was_lost_does_not_keep_the_circuit_open_for_ever() {
        follow(&[Fails, Fails, Fails, Fails, Fails, Waits(60), IsAdmitted, Waits(59), IsRefused, Waits(1), IsAdmitted]);
    }

    #[test]
    fn late_failures_do_not_lengthen_the_rest_and_a_late_success_ends_it() {
        follow(&[Fails, Fails, Fails, Fails, Fails, Waits(50), Fails, Waits(10), IsAdmitted]);
        follow(&[Fails, Fails, Fails, Fails, Fails, Works, IsAdmitted]);
    }

    #[test]
    fn every_endpoint_has_its_own_circuit_and_those_that_work_take_no_room() {
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
