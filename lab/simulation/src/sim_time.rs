//! Simulated time, in milliseconds since the run began.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SimTime(pub u64);

impl SimTime {
    pub const BEGIN: Self = Self(0);
    pub const NEVER: Self = Self(u64::MAX);
}

impl Add<Duration> for SimTime {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)))
    }
}

impl Sub for SimTime {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>4}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}
