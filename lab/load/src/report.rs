//! What came of a run, and which goals were missed.

use std::fmt;
use std::time::Duration;

pub use crate::referee::Cost;
pub use crate::tally::Spread;

/// The decision that a deadline has passed falls at most so many milliseconds late, but for one in a hundred.
const LATEST: u64 = 10;

#[derive(Clone, Debug)]
pub struct Report {
    /// Matches that were played and written down.
    pub matches: u64,
    /// Calls that were answered, by the receipts.
    pub answered: u64,
    /// Calls that the crowd answered later than it should: nothing is shown by them.
    pub late_crowd: u64,
    /// Questions that got no answer, on purpose.
    pub silent: u64,
    /// Timeouts that were charged, by the receipts.
    pub timeouts: u64,
    pub broken: u64,
    /// How late it was decided that a deadline had passed, beyond what was granted.
    pub lateness: Spread,
    /// The same, with what was granted.
    pub overrun: Spread,
    /// What was granted by a referee that was late itself.
    pub grants: Spread,
    /// How late a thread of this machine woke up meanwhile that did nothing else.
    pub machine: Spread,
    pub cost: Cost,
    pub took: Duration,
}

impl Report {
    /// Whether somebody was charged who answered in time, or was not charged who did not. Holds on any machine.
    pub fn injustices(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut claim = |holds: bool, wrong: String| {
            if !holds {
                found.push(wrong);
            }
        };
        // Whom the crowd itself was late for may have been charged with reason.
        let wrongly = self.timeouts.saturating_sub(self.silent + self.late_crowd);
        claim(wrongly == 0, format!("{wrongly} timeouts were charged to players who answered in time"));
        let spared = self.silent.saturating_sub(self.timeouts);
        claim(spared == 0, format!("{spared} silences were not charged"));
        claim(self.broken == 0, format!("{} connections broke", self.broken));
        found
    }

    /// The goals that were missed: those, and that decisions fall soon.
    pub fn missed(&self) -> Vec<String> {
        let mut missed = self.injustices();
        if self.lateness.p99 > LATEST {
            missed.push(format!("a deadline was decided upon {} ms late at p99, not {LATEST} ms", self.lateness.p99));
        }
        missed
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.took.as_secs_f64();
        writeln!(f, "matches           {} in {seconds:.1} s", self.matches)?;
        writeln!(f, "calls answered    {} ({:.0} a second)", self.answered, self.answered as f64 / seconds)?;
        writeln!(f, "late by the crowd {}", self.late_crowd)?;
        writeln!(f, "silent on purpose {}", self.silent)?;
        writeln!(f, "timeouts charged  {}", self.timeouts)?;
        writeln!(f, "broken            {}", self.broken)?;
        writeln!(f, "decided late by   {}", self.lateness)?;
        writeln!(f, "with its grant    {}", self.overrun)?;
        writeln!(f, "a timer, bare     {}", self.machine)?;
        writeln!(f, "grants            {}; {}", self.grants.count, self.grants)?;
        write!(f, "referee           {:.1} s of a processor, {} MB at most", self.cost.processor, self.cost.memory)
    }
}
