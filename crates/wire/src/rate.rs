//! Rate limits by key, in bounded memory.
//!
//! Time comes from the runtime, so a simulation controls it. If the table is full of active keys, new keys share one limiter until
//! an entry expires. An attacker with many addresses can thus delay other clients, but cannot exhaust memory.

use std::fmt;
use std::hash::Hash;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use governor::clock::Clock;
use governor::state::keyed::HashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{NotUntil, Quota, RateLimiter};
use tokio::time::Instant;

const MAX_KEYS: usize = 16 * 1024;

/// How often a full table is scanned for expired entries.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    pub per_second: NonZeroU32,
    pub burst: NonZeroU32,
}

impl Rate {
    /// A zero counts as one.
    pub const fn new(per_second: u32, burst: u32) -> Self {
        Self { per_second: at_least_one(per_second), burst: at_least_one(burst) }
    }
}

const fn at_least_one(number: u32) -> NonZeroU32 {
    match NonZeroU32::new(number) {
        Some(number) => number,
        None => NonZeroU32::MIN,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RetryAfter(pub Duration);

impl RetryAfter {
    pub fn seconds(self) -> u32 {
        let whole = self.0.as_secs() + u64::from(self.0.subsec_nanos() > 0);
        u32::try_from(whole.max(1)).unwrap_or(u32::MAX)
    }
}

#[derive(Clone, Copy, Debug)]
struct Monotonic;

impl Clock for Monotonic {
    type Instant = std::time::Instant;

    fn now(&self) -> std::time::Instant {
        Instant::now().into_std()
    }
}

pub struct KeyedLimiter<K: Hash + Eq + Clone> {
    per_key: RateLimiter<K, HashMapStateStore<K>, Monotonic>,
    /// Shared by keys that do not fit into the table.
    overflow: RateLimiter<NotKeyed, InMemoryState, Monotonic>,
    max_keys: usize,
    last_sweep: Mutex<Option<Instant>>,
}

impl<K: Hash + Eq + Clone> KeyedLimiter<K> {
    pub fn new(rate: Rate) -> Self {
        Self::with_capacity(rate, MAX_KEYS)
    }

    fn with_capacity(rate: Rate, max_keys: usize) -> Self {
        let quota = Quota::per_second(rate.per_second).allow_burst(rate.burst);
        let per_key = RateLimiter::hashmap_with_clock(quota, Monotonic);
        Self {
            per_key,
            overflow: RateLimiter::direct_with_clock(quota, Monotonic),
            max_keys,
            last_sweep: Mutex::default(),
        }
    }

    pub fn check(&self, key: &K) -> Result<(), RetryAfter> {
        if self.per_key.len() >= self.max_keys && !self.make_room() {
            return self.overflow.check().map_err(retry_after);
        }
        self.per_key.check_key(key).map_err(retry_after)
    }

    fn make_room(&self) -> bool {
        let mut last_sweep = self.last_sweep.lock().unwrap_or_else(PoisonError::into_inner);
        if last_sweep.is_none_or(|at| at.elapsed() >= SWEEP_INTERVAL) {
            self.per_key.retain_recent();
            *last_sweep = Some(Instant::now());
        }
        self.per_key.len() < self.max_keys
    }
}

impl<K: Hash + Eq + Clone> fmt::Debug for KeyedLimiter<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedLimiter").field("keys", &self.per_key.len()).finish_non_exhaustive()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function for map_err")]
fn retry_after(until: NotUntil<std::time::Instant>) -> RetryAfter {
    RetryAfter(until.wait_time_from(Monotonic.now()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_key_has_its_burst_and_then_its_rate() {
        let limiter = KeyedLimiter::new(Rate::new(2, 5));
        assert!((0..5).all(|_| limiter.check(&"one").is_ok()));
        assert_eq!(limiter.check(&"one"), Err(RetryAfter(Duration::from_millis(500))));
        assert_eq!(limiter.check(&"other"), Ok(()), "each key has its own");
        tokio::time::advance(Duration::from_millis(500)).await;
        assert_eq!(limiter.check(&"one"), Ok(()));
        assert!(limiter.check(&"one").is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn new_keys_share_one_limiter_while_the_table_is_full() {
        let limiter = KeyedLimiter::with_capacity(Rate::new(1, 2), 100);
        assert!((0..100).all(|key| limiter.check(&key).is_ok()));
        let passed = (100..1000).filter(|key| limiter.check(key).is_ok()).count();
        assert_eq!((passed, limiter.per_key.len()), (2, 100));
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(limiter.check(&1000), Ok(()));
        assert_eq!(limiter.per_key.len(), 1);
    }

    #[test]
    fn retry_after_is_rounded_up_to_whole_seconds() {
        let seconds = [0, 1, 1000, 1001].map(|millis| RetryAfter(Duration::from_millis(millis)).seconds());
        assert_eq!(seconds, [1, 1, 1, 2]);
    }
}
