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

const MOST: usize = 16 * 1024;

/// How often a full table is scanned for expired entries.
const SWEEP: Duration = Duration::from_secs(1);

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
    each: RateLimiter<K, HashMapStateStore<K>, Monotonic>,
    /// Shared by keys that do not fit into the table.
    all: RateLimiter<NotKeyed, InMemoryState, Monotonic>,
    most: usize,
    swept: Mutex<Option<Instant>>,
}

impl<K: Hash + Eq + Clone> KeyedLimiter<K> {
    pub fn new(rate: Rate) -> Self {
        Self::of(rate, MOST)
    }

    fn of(rate: Rate, most: usize) -> Self {
        let quota = Quota::per_second(rate.per_second).allow_burst(rate.burst);
        let each = RateLimiter::hashmap_with_clock(quota, Monotonic);
        Self { each, all: RateLimiter::direct_with_clock(quota, Monotonic), most, swept: Mutex::default() }
    }

    pub fn pass(&self, key: &K) -> Result<(), RetryAfter> {
        if self.each.len() >= self.most && !self.sweep() {
            return self.all.check().map_err(wait);
        }
        self.each.check_key(key).map_err(wait)
    }

    fn sweep(&self) -> bool {
        let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
        if swept.is_none_or(|at| at.elapsed() >= SWEEP) {
            self.each.retain_recent();
            *swept = Some(Instant::now());
        }
        self.each.len() < self.most
    }
}

impl<K: Hash + Eq + Clone> fmt::Debug for KeyedLimiter<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter").field("keys", &self.each.len()).finish_non_exhaustive()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function for map_err")]
fn wait(until: NotUntil<std::time::Instant>) -> RetryAfter {
    RetryAfter(until.wait_time_from(Monotonic.now()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_then_so_many_each_second() {
        let meter = KeyedLimiter::new(Rate::new(2, 5));
        assert!((0..5).all(|_| meter.pass(&"one").is_ok()));
        assert_eq!(meter.pass(&"one"), Err(RetryAfter(Duration::from_millis(500))));
        assert_eq!(meter.pass(&"other"), Ok(()), "each key has its own");
        tokio::time::advance(Duration::from_millis(500)).await;
        assert_eq!(meter.pass(&"one"), Ok(()));
        assert!(meter.pass(&"one").is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_table_that_is_full_has_one_rate_for_all_until_some_no_longer_count() {
        let meter = KeyedLimiter::of(Rate::new(1, 2), 100);
        assert!((0..100).all(|key| meter.pass(&key).is_ok()));
        let passed = (100..1000).filter(|key| meter.pass(key).is_ok()).count();
        assert_eq!((passed, meter.each.len()), (2, 100));
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(meter.pass(&1000), Ok(()));
        assert_eq!(meter.each.len(), 1);
    }

    #[test]
    fn a_wait_is_told_in_whole_seconds_and_never_as_none() {
        let told = [0, 1, 1000, 1001].map(|millis| RetryAfter(Duration::from_millis(millis)).seconds());
        assert_eq!(told, [1, 1, 1, 2]);
    }
}
