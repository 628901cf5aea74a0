//! What `league bench` found out, as it is kept in a file.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ceiling::Ceiling;
use super::goals::{self, Goal};
use super::restart::Restart;
use super::stage::Answered;
use crate::cli::Bench;
use crate::figures::Figures;

/// By what a report is known, and in which form it is written.
const KIND: &str = "league bench 1";

/// What was to be measured, where, and by which build: only figures of the same settings can be compared.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Setting {
    pub(crate) players: u32,
    pub(crate) referees: u32,
    pub(crate) results: u32,
    pub(crate) cores: usize,
    /// `release`, or `debug`, whose figures are worth nothing.
    pub(crate) build: String,
}

impl Setting {
    /// What `options` ask for, on this machine and by this build.
    pub(crate) fn of(options: &Bench) -> Self {
        Self {
            players: options.players,
            referees: options.referees,
            results: options.results,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            build: String::from(if cfg!(debug_assertions) { "debug" } else { "release" }),
        }
    }

    /// Refuses to compare what cannot be compared.
    pub(crate) fn expect_like(&self, earlier: &Report, path: &Path) -> Result<()> {
        if *self != earlier.setting {
            let (path, then) = (path.display(), &earlier.setting);
            bail!(
                "{path} cannot be compared with: it was measured with {then}, and this is {self}; measure both with the same settings"
            );
        }
        Ok(())
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { players, referees, results, cores, build } = self;
        write!(f, "--players {players} --referees {referees} --results {results} on {cores} cores by a {build} build")
    }
}

/// A league, and what the wire did right after it with the same calls.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Pair {
    pub(crate) league: Figures,
    pub(crate) ceiling: Ceiling,
}

impl Pair {
    /// The league's speed as a part of the wire's.
    pub(crate) fn ratio(&self) -> f64 {
        self.league.calls_per_second() / self.ceiling.calls_per_second()
    }

    /// The processor time of a call in the league, as a multiple of that of a call on the wire alone.
    pub(crate) fn cpu_ratio(&self) -> Option<f64> {
        let calls = self.league.per_match(self.league.call_count() as f64);
        Some(self.league.cpu_us_per_match()? / calls / self.ceiling.cpu_us_per_call()?)
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Growth {
    pub(crate) figures: Figures,
    pub(crate) restart: Restart,
}

/// Everything that was measured in one run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Always [`KIND`].
    report: String,
    /// Of the program that measured, and was measured.
    version: String,
    pub(crate) setting: Setting,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) allocations_per_match: Option<u64>,
    pub(crate) growth: Vec<Growth>,
    pub(crate) league_query: Answered,
    /// `league run` as a newcomer types it, from launch to table.
    pub(crate) small_seconds: f64,
    /// Matches of `league simulate` in a second.
    pub(crate) simulated_per_second: f64,
    pub(crate) restart: Restart,
    pub(crate) binary_mb: f64,
}

/// What is measured beside leagues and ceilings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alone {
    pub(crate) league_query: Answered,
    pub(crate) small_seconds: f64,
    pub(crate) simulated_per_second: f64,
    pub(crate) restart: Restart,
    pub(crate) binary_mb: f64,
}

/// A report as it is written: with what follows from it.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    report: &'a Report,
    goals: Vec<Goal>,
}

pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

impl Report {
    pub(crate) fn new(
        setting: Setting,
        pairs: Vec<Pair>,
        allocations_per_match: Option<u64>,
        growth: Vec<Growth>,
        alone: Alone,
    ) -> Self {
        let Alone { league_query, small_seconds, simulated_per_second, restart, binary_mb } = alone;
        Self {
            report: KIND.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            setting,
            pairs,
            allocations_per_match,
            growth,
            league_query,
            small_seconds,
            simulated_per_second,
            restart,
            binary_mb,
        }
    }

    /// The median over the pairs; nothing where there are none, or one of them does not tell.
    pub(crate) fn median_of(&self, figure: impl Fn(&Pair) -> Option<f64>) -> Option<f64> {
        let mut values = self.pairs.iter().map(figure).collect::<Option<Vec<f64>>>()?;
        (!values.is_empty()).then(|| median(&mut values))
    }

    /// The pair in the middle of them by ratio, whose details are shown.
    pub(crate) fn typical(&self) -> Option<&Pair> {
        let mut pairs: Vec<&Pair> = self.pairs.iter().collect();
        pairs.sort_by(|one, other| one.ratio().total_cmp(&other.ratio()));
        pairs.get(pairs.len() / 2).copied()
    }

    /// The league of so many players among those that show how cost grows.
    pub(crate) fn grown(&self, players: u32) -> Option<&Growth> {
        self.growth.iter().find(|growth| growth.figures.players == players)
    }

    /// Reads a report that an earlier run has left.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = std::fs::read(path).with_context(|| format!("{shown} cannot be read"))?;
        let value: Value = serde_json::from_slice(&text).unwrap_or_default();
        match value.get("report").and_then(Value::as_str) {
            Some(KIND) => serde_json::from_value(value).with_context(|| format!("the report in {shown} is damaged")),
            Some(other) if other.starts_with("league bench ") => {
                bail!("{shown} was written by another version of `league bench`; measure again")
            }
            Some(_) | None => bail!("{shown} is not a report of `league bench --json`"),
        }
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(&Written { report: self, goals: goals::of(self) })?;
        text.push(b'\n');
        std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
    }
}
