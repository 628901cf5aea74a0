//! What the crowd did, and what the receipts say. Counted by many at a time, read at the end.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) answered: Count,
    /// Of these, calls for which the crowd itself took longer than it should: nothing is shown by them.
    pub(crate) late: Count,
    /// Questions that were not answered on purpose.
    pub(crate) silent: Count,
}

#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) files: Count,
    pub(crate) answered: Count,
    /// Questions that were given up at their limit.
    pub(crate) timeouts: Count,
    pub(crate) broken: Count,
    /// By how many milliseconds a call was given up too late, not counting what was granted: one for each timeout.
    lateness: Mutex<Vec<u64>>,
    /// The same, with what was granted.
    overrun: Mutex<Vec<u64>>,
    /// What was granted, in milliseconds: one for each call that was.
    grants: Mutex<Vec<u64>>,
}

impl Read {
    pub(crate) fn note_timeout(&self, overrun: u64, granted: u64) {
        self.timeouts.up();
        self.overrun.lock().unwrap_or_else(PoisonError::into_inner).push(overrun);
        self.lateness.lock().unwrap_or_else(PoisonError::into_inner).push(overrun.saturating_sub(granted));
    }

    pub(crate) fn note_grant(&self, granted: u64) {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner).push(granted);
    }

    pub(crate) fn lateness(&self) -> Spread {
        Spread::of(copied(&self.lateness))
    }

    pub(crate) fn overrun(&self) -> Spread {
        Spread::of(copied(&self.overrun))
    }

    pub(crate) fn grants(&self) -> Spread {
        Spread::of(copied(&self.grants))
    }
}

fn copied(values: &Mutex<Vec<u64>>) -> Vec<u64> {
    values.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spread {
    pub count: u64,
    pub median: u64,
    /// Of a hundred, the last but one.
    pub p99: u64,
    pub max: u64,
}

impl Spread {
    pub(crate) fn of(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        let at = |percent: usize| values.get((values.len() * percent / 100).min(values.len().saturating_sub(1)));
        let value = |percent| at(percent).copied().unwrap_or_default();
        Self { count: values.len() as u64, median: value(50), p99: value(99), max: value(100) }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ms in the middle, {} ms at p99, {} ms at most", self.median, self.p99, self.max)
    }
}
