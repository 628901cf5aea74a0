//! Counts of calls by message: how many, how long, and how many bytes each way. A client counts only if it has a tally.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use hdrhistogram::Histogram;

use crate::exchange::{CallError, Exchange};

/// Significant digits of the times.
const DIGITS: u8 = 2;
/// The longest time that is recorded: ten minutes in microseconds.
const LONGEST: u64 = 600_000_000;

#[derive(Clone, Debug)]
pub struct CallCount {
    pub answered: u64,
    pub failed: u64,
    /// The bytes of the questions, without their heads.
    pub bytes_out: u64,
    /// The bytes of the answers, likewise.
    pub bytes_in: u64,
    /// From the first byte of a question to the last of its answer, in microseconds.
    pub times: Histogram<u64>,
}

/// Counts calls by what was said in them.
#[derive(Default)]
pub struct CallTally(Mutex<BTreeMap<&'static str, CallCount>>);

impl fmt::Debug for CallTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tally")
    }
}

impl CallTally {
    pub(crate) fn note(&self, what: &'static str, sent: usize, came: &Result<Exchange, CallError>) {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(calls) = kinds.get_mut(what) {
            calls.note(sent, came);
        } else if let Some(mut first) = CallCount::none() {
            first.note(sent, came);
            kinds.insert(what, first);
        }
    }

    /// The counts so far; counting begins anew.
    pub fn take(&self) -> BTreeMap<&'static str, CallCount> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CallCount {
    fn none() -> Option<Self> {
        let times = Histogram::new_with_bounds(1, LONGEST, DIGITS).ok()?;
        Some(Self { answered: 0, failed: 0, bytes_out: 0, bytes_in: 0, times })
    }

    fn note(&mut self, sent: usize, came: &Result<Exchange, CallError>) {
        self.bytes_out += sent as u64;
        match came {
            Ok(exchange) => {
                self.answered += 1;
                self.bytes_in += exchange.body.len() as u64;
                let took = exchange.receipt.last_byte.unwrap_or_default().as_micros();
                self.times.saturating_record(u64::try_from(took).unwrap_or(LONGEST));
            }
            Err(_) => self.failed += 1,
        }
    }
}
