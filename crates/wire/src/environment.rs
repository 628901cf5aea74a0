//! The wall clock and the source of randomness, both replaced by a simulation. Timers come from the runtime.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use league_protocol::time::Timestamp;

#[derive(Clone)]
pub struct Environment {
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    random: Arc<dyn Fn() -> [u8; 32] + Send + Sync>,
}

impl Environment {
    pub fn real() -> Self {
        Self::new(clock, entropy)
    }

    pub fn new(
        now: impl Fn() -> Timestamp + Send + Sync + 'static,
        random: impl Fn() -> [u8; 32] + Send + Sync + 'static,
    ) -> Self {
        Self { now: Arc::new(now), random: Arc::new(random) }
    }

    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    pub fn random(&self) -> [u8; 32] {
        (self.random)()
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}

pub(crate) fn clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_unix_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[expect(clippy::panic, reason = "without randomness no token and no draw is safe: there is nothing left to do")]
fn entropy() -> [u8; 32] {
    let mut bytes = [0; 32];
    if let Err(error) = getrandom::fill(&mut bytes) {
        panic!("the operating system gives no randomness: {error}");
    }
    bytes
}
