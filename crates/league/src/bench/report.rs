//! What `league bench` found out: as a table, as JSON, and as a part of docs/performance.md.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::ceiling::Ceiling;
use super::goals;
use super::restart::Restart;
use super::stage::Answered;
use crate::figures::Figures;

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
}

/// A league of another size.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Growth {
    pub(crate) figures: Figures,
    pub(crate) restart_seconds: f64,
}

/// Everything that was measured in one run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) version: String,
    pub(crate) cores: usize,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) growth: Vec<Growth>,
    pub(crate) query_us: Answered,
    pub(crate) small_seconds: f64,
    pub(crate) simulated_per_second: f64,
    pub(crate) restart: Restart,
    pub(crate) binary_mb: f64,
}

/// The middle one.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

impl Report {
    /// The median over the pairs; nothing where there are none.
    pub(crate) fn median_of(&self, figure: impl Fn(&Pair) -> f64) -> Option<f64> {
        let mut values: Vec<f64> = self.pairs.iter().map(figure).collect();
        (!values.is_empty()).then(|| median(&mut values))
    }

    /// The pair in the middle of them by ratio, whose details are shown.
    fn typical(&self) -> Option<&Pair> {
        let mut pairs: Vec<&Pair> = self.pairs.iter().collect();
        pairs.sort_by(|one, other| one.ratio().total_cmp(&other.ratio()));
        pairs.get(pairs.len() / 2).copied()
    }

    /// For people at a terminal.
    pub(crate) fn table(&self) -> String {
        self.markdown()
    }

    /// For docs/performance.md.
    pub(crate) fn markdown(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_markdown(&mut out);
        out
    }

    fn write_markdown(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "| what | measured | goal | |\n|---|---|---|---|")?;
        for goal in goals::of(self) {
            let mark = if goal.reached { "reached" } else { "missed" };
            writeln!(out, "| {} | {} | {} | {mark} |", goal.what, goal.measured, goal.wanted)?;
        }
        let Some(Pair { league, ceiling }) = self.typical() else { return Ok(()) };
        writeln!(
            out,
            "\n{} cores. {} players: {:.0} matches/s and {:.0} calls/s; the ceiling of the same run is {:.0} calls/s.",
            self.cores,
            league.players,
            league.matches_per_second(),
            league.calls_per_second(),
            ceiling.calls_per_second(),
        )?;
        writeln!(
            out,
            "\n| call | count | p50 µs | p99 µs | p99.9 µs | bytes asked | bytes answered |\n|---|--:|--:|--:|--:|--:|--:|"
        )?;
        for (what, calls) in &league.calls {
            let each = |bytes: u64| bytes / calls.count.max(1);
            writeln!(
                out,
                "| {what} | {} | {} | {} | {} | {} | {} |",
                calls.count,
                calls.p50_us,
                calls.p99_us,
                calls.p999_us,
                each(calls.bytes_out),
                each(calls.bytes_in),
            )?;
        }
        writeln!(out, "\n| part | CPU µs per match |\n|---|--:|")?;
        for (part, seconds) in &league.cpu_seconds {
            writeln!(out, "| {part} | {:.0} |", seconds * 1e6 / league.matches.max(1) as f64)?;
        }
        if let Some(allocations) = league.allocations_per_match {
            writeln!(out, "\n{allocations} allocations per match.")?;
        }
        if !self.growth.is_empty() {
            writeln!(
                out,
                "\n| players | matches | seconds | CPU µs per match | peak MB | restart s |\n|--:|--:|--:|--:|--:|--:|"
            )?;
        }
        for Growth { figures, restart_seconds } in &self.growth {
            writeln!(
                out,
                "| {} | {} | {:.2} | {:.0} | {} | {restart_seconds:.2} |",
                figures.players,
                figures.matches,
                figures.playing_seconds,
                figures.cpu_us_per_match(),
                figures.peak_memory_mb.unwrap_or_default(),
            )?;
        }
        Ok(())
    }

    /// Reads a report that an earlier run has left.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        serde_json::from_slice(&text)
            .with_context(|| format!("{} holds no report of `league bench --json`", path.display()))
    }

    /// Leaves it in a file.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
    }
}
