//! `league run --figures FILE`: what a run cost, as JSON for the programs in `lab/bench`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use league_wire::call_tally::CallTally;
use serde_json::{Map, Value, json};

/// Linux counts processor time in hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    at: Instant,
    cpu: Option<f64>,
}

impl Start {
    pub(crate) fn now() -> Self {
        Self { at: Instant::now(), cpu: cpu_seconds() }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Played {
    pub(crate) players: u32,
    pub(crate) referees: u32,
    pub(crate) matches: u64,
    pub(crate) all: Duration,
    pub(crate) playing: Start,
}

pub(crate) fn write(path: &Path, played: &Played, tally: &CallTally) -> Result<()> {
    let Played { players, referees, matches, all, playing } = played;
    let calls: Map<String, Value> = tally.take().into_iter().map(|(message, calls)| {
        let at = |quantile| calls.times.value_at_quantile(quantile);
        (message.to_owned(), json!({
            "count": calls.answered + calls.failed, "failed": calls.failed, "bytes_out": calls.bytes_out, "bytes_in": calls.bytes_in,
            "p50_us": at(0.5), "p99_us": at(0.99), "p999_us": at(0.999),
        }))
    }).collect();
    let mut figures = json!({
        "players": players, "referees": referees, "matches": matches,
        "seconds": all.as_secs_f64(), "playing_seconds": playing.at.elapsed().as_secs_f64(),
        "playing_cpu_seconds": cpu_seconds().zip(playing.cpu).map(|(now, before)| now - before),
        "calls": calls, "cpu_seconds": cpu_by_part(), "peak_memory_mb": peak_memory_mb(),
    });
    if let Some(allocations) = allocations() {
        figures["allocations_per_match"] = json!(allocations / (*matches).max(1));
    }
    let text = serde_json::to_string_pretty(&figures)? + "\n";
    fs::write(path, text).with_context(|| format!("the figures cannot be written to {}", path.display()))
}

/// `None` except on Linux.
pub(crate) fn peak_memory_mb() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes / 1024)
}

fn cpu_seconds() -> Option<f64> {
    #[cfg(unix)]
    {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Some(used.tv_sec as f64 + used.tv_nsec as f64 / 1e9)
    }
    #[cfg(not(unix))]
    None
}

/// User and kernel time by the purpose of a thread; only on Linux.
fn cpu_by_part() -> BTreeMap<String, Value> {
    let mut parts = BTreeMap::<String, (f64, f64)>::new();
    for thread in fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let read = |name: &str| fs::read_to_string(thread.path().join(name)).ok();
        let (Some(name), Some(stat)) = (read("comm"), read("stat")) else { continue };
        // The name of the thread, in brackets, may contain any character.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11);
        let ticks: Vec<f64> = fields.take(2).filter_map(|field| field.parse().ok()).collect();
        let [user, kernel] = ticks[..] else { continue };
        let sum = parts.entry(part(name.trim()).to_owned()).or_default();
        *sum = (sum.0 + user / TICKS_PER_SECOND, sum.1 + kernel / TICKS_PER_SECOND);
    }
    parts.into_iter().map(|(part, (user, kernel))| (part, json!({"user": user, "kernel": kernel}))).collect()
}

fn part(thread: &str) -> &str {
    match thread {
        "league-views" => "files",
        "league-log" => "event log",
        "league-journal" => "journals",
        core if core.starts_with("league-core") => "referees and players",
        // The manager has the default runtime to itself.
        "league" | "tokio-rt-worker" => "manager",
        other => other,
    }
}

/// Counted only by builds with the feature `allocations`.
fn allocations() -> Option<u64> {
    #[cfg(feature = "allocations")]
    {
        let stats = crate::ALLOCATOR.stats();
        Some((stats.allocations + stats.reallocations) as u64)
    }
    #[cfg(not(feature = "allocations"))]
    None
}
