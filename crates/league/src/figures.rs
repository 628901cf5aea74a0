//! What a run cost: `league run --figures FILE`, and what `league bench` compares.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use league_wire::call_tally::CallTally;
use serde::{Deserialize, Serialize};

use crate::machine::{self, Cpu, Start};

/// What a league cost that was played in one process.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) players: u32,
    pub(crate) referees: u32,
    pub(crate) matches: u64,
    /// From the start of the process to the champion.
    pub(crate) seconds: f64,
    /// From the start of the league to the champion.
    pub(crate) playing_seconds: f64,
    /// Seconds that processors have worked between these.
    pub(crate) playing_cpu_seconds: Option<f64>,
    /// The calls, by what was said.
    pub(crate) calls: BTreeMap<String, CallFigures>,
    /// Seconds of processor time since the start of the process, by the part of the process that used them; none where the system does not tell.
    pub(crate) cpu_seconds: BTreeMap<String, Cpu>,
    /// The most memory that the process had.
    pub(crate) peak_memory_mb: Option<u64>,
    /// Allocations for each match; counted only where the binary was built for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) allocations_per_match: Option<u64>,
}

/// What the calls of one kind cost.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct CallFigures {
    pub(crate) count: u64,
    /// How many of them were not answered.
    pub(crate) failed: u64,
    pub(crate) bytes_out: u64,
    pub(crate) bytes_in: u64,
    /// How long half of them took at most, to the last byte of the answer.
    pub(crate) p50_us: u64,
    /// How long 99 of 100 took at most.
    pub(crate) p99_us: u64,
    /// How long 999 of 1,000 took at most.
    pub(crate) p999_us: u64,
}

/// What was played, and how long it took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Played {
    pub(crate) players: u32,
    pub(crate) referees: u32,
    pub(crate) matches: u64,
    pub(crate) all: Duration,
    pub(crate) playing: Start,
}

impl Figures {
    /// The figures of this process, which has played a league.
    pub(crate) fn of(played: Played, tally: &CallTally) -> Self {
        let calls = tally.take().into_iter().map(|(what, calls)| {
            let figures = CallFigures {
                count: calls.answered + calls.failed,
                failed: calls.failed,
                bytes_out: calls.bytes_out,
                bytes_in: calls.bytes_in,
                p50_us: calls.times.value_at_quantile(0.5),
                p99_us: calls.times.value_at_quantile(0.99),
                p999_us: calls.times.value_at_quantile(0.999),
            };
            (what.to_owned(), figures)
        });
        let calls = calls.collect();
        let (playing_seconds, playing_cpu_seconds) = played.playing.spent();
        let Played { players, referees, matches, all, .. } = played;
        Self {
            players,
            referees,
            matches,
            seconds: all.as_secs_f64(),
            playing_seconds,
            playing_cpu_seconds,
            calls,
            cpu_seconds: machine::cpu_by_part(),
            peak_memory_mb: machine::peak_memory_mb(),
            allocations_per_match: machine::allocations().map(|all| all / matches.max(1)),
        }
    }

    /// How many calls were made in all.
    pub(crate) fn call_count(&self) -> u64 {
        self.calls.values().map(|calls| calls.count).sum()
    }

    /// Calls in a second of play.
    pub(crate) fn calls_per_second(&self) -> f64 {
        self.call_count() as f64 / self.playing_seconds
    }

    /// Matches in a second of play.
    pub(crate) fn matches_per_second(&self) -> f64 {
        self.matches as f64 / self.playing_seconds
    }

    /// What there was of something for each match.
    pub(crate) fn per_match(&self, all: f64) -> f64 {
        all / self.matches.max(1) as f64
    }

    /// Processor time for one match, in microseconds, where the system tells.
    pub(crate) fn cpu_us_per_match(&self) -> Option<f64> {
        self.playing_cpu_seconds.map(|seconds| self.per_match(seconds * 1e6))
    }

    /// The bytes of all questions and of all answers, for one match.
    pub(crate) fn bytes_per_match(&self) -> (f64, f64) {
        let sum = |bytes: fn(&CallFigures) -> u64| self.per_match(self.calls.values().map(bytes).sum::<u64>() as f64);
        (sum(|calls| calls.bytes_out), sum(|calls| calls.bytes_in))
    }

    /// Reads figures that a run has left.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read(path).with_context(|| format!("the figures in {} cannot be read", path.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{} holds no figures of a run", path.display()))
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        std::fs::write(path, text).with_context(|| format!("the figures cannot be written to {}", path.display()))
    }
}
