//! Counts, durations and bytes of calls by message. A client counts only if it has a tally.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use hdrhistogram::Histogram;

use crate::exchange::{CallError, Exchange};

const DIGITS: u8 = 2;
/// Ten minutes in microseconds.
const LONGEST: u64 = 600_000_000;

#[derive(Clone, Debug)]
pub struct CallCount {
    pub answered: u64,
    pub failed: u64,
    /// Bodies without headers, as is `bytes_in`.
    pub bytes_out: u64,
    pub bytes_in: u64,
    /// Microseconds from the first byte of a request to the last byte of its answer.
    pub times: Histogram<u64>,
}

#[derive(Default)]
pub struct CallTally(Mutex<BTreeMap<&'static str, CallCount>>);

impl fmt::Debug for CallTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallTally")
    }
}

impl CallTally {
    pub(crate) fn record(&self, name: &'static str, sent: usize, result: &Result<Exchange, CallError>) {
        let mut by_name = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(calls) = by_name.get_mut(name) {
            calls.record(sent, result);
        } else if let Some(mut first) = CallCount::empty() {
            first.record(sent, result);
            by_name.insert(name, first);
        }
    }

    pub fn take(&self) -> BTreeMap<&'static str, CallCount> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CallCount {
    fn empty() -> Option<Self> {
        let times = Histogram::new_with_bounds(1, LONGEST, DIGITS).ok()?;
        Some(Self { answered: 0, failed: 0, bytes_out: 0, bytes_in: 0, times })
    }

    fn record(&mut self, sent: usize, result: &Result<Exchange, CallError>) {
        self.bytes_out += sent as u64;
        match result {
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
