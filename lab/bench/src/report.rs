//! The figures of a run, as JSON. `cargo xtask bench --compare` also reads the reports of `league bench` of version
//! 0.1.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

const KIND: &str = "league bench 1";

/// Only reports with the same settings can be compared.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Setting {
    pub(crate) players: u32,
    pub(crate) referees: u32,
    pub(crate) results: u32,
    pub(crate) cores: usize,
    /// `release`, or `debug`, whose figures mean nothing.
    pub(crate) build: String,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { players, referees, results, cores, build } = self;
        write!(f, "--players {players} --referees {referees} --results {results} on {cores} cores by a {build} build")
    }
}

/// The file of `league run --figures`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct RunFigures {
    pub(crate) players: u32,
    pub(crate) referees: u32,
    pub(crate) matches: u64,
    /// From the start of the process to the champion.
    pub(crate) seconds: f64,
    /// From the start of the league to the champion.
    pub(crate) playing_seconds: f64,
    pub(crate) playing_cpu_seconds: Option<f64>,
    pub(crate) calls: BTreeMap<String, CallFigures>,
    /// By part of the process, since its start.
    pub(crate) cpu_seconds: BTreeMap<String, Cpu>,
    pub(crate) peak_memory_mb: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) allocations_per_match: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct CallFigures {
    pub(crate) count: u64,
    pub(crate) failed: u64,
    pub(crate) bytes_out: u64,
    pub(crate) bytes_in: u64,
    pub(crate) p50_us: u64,
    pub(crate) p99_us: u64,
    pub(crate) p999_us: u64,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Cpu {
    pub(crate) user: f64,
    pub(crate) kernel: f64,
}

impl RunFigures {
    pub(crate) fn call_count(&self) -> u64 {
        self.calls.values().map(|calls| calls.count).sum()
    }

    pub(crate) fn per_match(&self, total: f64) -> f64 {
        total / self.matches.max(1) as f64
    }

    pub(crate) fn cpu_us_per_match(&self) -> Option<f64> {
        self.playing_cpu_seconds.map(|seconds| self.per_match(seconds * 1e6))
    }

    pub(crate) fn bytes_per_match(&self) -> f64 {
        self.per_match(self.calls.values().map(|calls| calls.bytes_out + calls.bytes_in).sum::<u64>() as f64)
    }
}

/// What bare HTTP servers and clients need for the calls of a league.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Ceiling {
    pub(crate) calls: u64,
    pub(crate) seconds: f64,
    pub(crate) cpu_seconds: Option<f64>,
}

/// A league, and the ceiling right after it with the same calls.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Pair {
    pub(crate) league: RunFigures,
    pub(crate) ceiling: Ceiling,
}

#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Restart {
    pub(crate) results: u32,
    pub(crate) seconds: f64,
    pub(crate) manager_mb: Option<u64>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Growth {
    pub(crate) figures: RunFigures,
    pub(crate) restart: Restart,
}

#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct AnswerTimes {
    pub(crate) count: u64,
    pub(crate) p50_us: u64,
    pub(crate) p99_us: u64,
    pub(crate) p999_us: u64,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    report: String,
    version: String,
    pub(crate) setting: Setting,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) allocations_per_match: Option<u64>,
    pub(crate) growth: Vec<Growth>,
    pub(crate) league_query: AnswerTimes,
    /// `league run` of four players, from launch to table.
    pub(crate) small_seconds: f64,
    pub(crate) simulated_per_second: f64,
    pub(crate) restart: Restart,
    pub(crate) binary_mb: f64,
}

impl Report {
    pub(crate) fn new(setting: Setting) -> Self {
        Self { report: KIND.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), setting, ..Self::default() }
    }

    pub(crate) fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = std::fs::read(path).with_context(|| format!("{shown} cannot be read"))?;
        let report: Self =
            serde_json::from_slice(&text).with_context(|| format!("{shown} is not a report of `--json`"))?;
        if report.report != KIND {
            bail!("{shown} is a report of another version; measure again");
        }
        Ok(report)
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
    }

    pub(crate) fn grown(&self, players: u32) -> Option<&Growth> {
        self.growth.iter().find(|growth| growth.figures.players == players)
    }

    /// The pair with the median ratio, whose details are shown.
    pub(crate) fn typical(&self) -> Option<&Pair> {
        let ratio = |pair: &Pair| pair.league.playing_seconds / pair.ceiling.seconds;
        let mut pairs: Vec<&Pair> = self.pairs.iter().collect();
        pairs.sort_by(|one, other| ratio(one).total_cmp(&ratio(other)));
        pairs.get(pairs.len() / 2).copied()
    }
}

pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}
