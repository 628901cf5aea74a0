//! Everything that happened in a run, in order and with its time. Two runs of one seed must have the same hash; the
//! lines are for people.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::sim_time::SimTime;

#[derive(Debug, Default)]
pub struct Trace {
    hasher: DefaultHasher,
    lines: Option<Vec<String>>,
    count: u64,
}

impl Trace {
    pub fn new(keeps_lines: bool) -> Self {
        Self { lines: keeps_lines.then(Vec::new), ..Self::default() }
    }

    pub fn note(&mut self, at: SimTime, what: fmt::Arguments<'_>) {
        let line = format!("{at}  {what}");
        line.hash(&mut self.hasher);
        self.count += 1;
        if let Some(lines) = &mut self.lines {
            lines.push(line);
        }
    }

    pub fn hash(&self) -> u64 {
        self.hasher.finish()
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Empty if they were not kept.
    pub fn lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}

/// Leaves out the `date` header, which is the machine's and not the run's.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    const NAME: &[u8] = b"\r\ndate: ";
    const LENGTH: usize = 29;
    let mut hasher = DefaultHasher::new();
    match bytes.windows(NAME.len()).position(|window| window == NAME) {
        Some(place) => {
            bytes[..place].hash(&mut hasher);
            bytes.get(place + NAME.len() + LENGTH..).hash(&mut hasher);
        }
        None => bytes.hash(&mut hasher),
    }
    hasher.finish()
}
