//! How much of everything.

use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Plan {
    /// The `league` program.
    pub league: PathBuf,
    /// Matches that run at a time; twice as many players take part.
    pub matches: u32,
    /// Calls to be answered in all, at least.
    pub calls: u64,
    /// The time for each of them.
    pub limit: Duration,
    /// Of a thousand questions, how many get no answer.
    pub silent: u64,
}

impl Plan {
    /// The calls that a match takes when everybody answers: an invitation, a question and the result, to both sides.
    const CALLS: u64 = 6;

    /// Matches to be played in all.
    pub(crate) fn rounds(&self) -> u64 {
        self.calls.div_ceil(Self::CALLS)
    }

    /// The longest that a player takes who answers: there is something left for the way, and for a crowd on a busy machine.
    pub(crate) fn longest(&self) -> Duration {
        self.limit * 3 / 4
    }

    /// Within this an answer is one that nobody may be charged for.
    pub(crate) fn due(&self) -> Duration {
        self.limit * 4 / 5
    }
}
