//! What this process has used of the machine, as far as the system tells: Linux does.

use std::collections::BTreeMap;
use std::fs;

/// The clock ticks in which Linux counts processor time.
const TICKS_PER_SECOND: f64 = 100.0;

/// The most memory that this process ever had, in megabytes.
pub(crate) fn peak_memory_mb() -> Option<u64> {
    peak_memory_of("self")
}

/// The same of another process, by its number.
pub(crate) fn peak_memory_of(process: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes / 1024)
}

/// Seconds of processor time by what a thread is for.
pub(crate) fn cpu_by_part() -> BTreeMap<String, f64> {
    let mut parts = BTreeMap::new();
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return parts };
    for thread in threads.flatten() {
        let read = |name: &str| fs::read_to_string(thread.path().join(name)).ok();
        let (Some(name), Some(stat)) = (read("comm"), read("stat")) else { continue };
        // Behind the name, which may hold anything, stand the fields; the twelfth and thirteenth are the times.
        let Some((_, fields)) = stat.rsplit_once(')') else { continue };
        let ticks: f64 = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
        *parts.entry(part(name.trim()).to_owned()).or_default() += ticks / TICKS_PER_SECOND;
    }
    parts
}

fn part(thread: &str) -> &str {
    match thread {
        "league-views" => "files",
        "league-log" => "event log",
        "league-journal" => "journals",
        core if core.starts_with("league-core") => "referees and players",
        // The manager has the ordinary runtime to itself.
        "league" | "tokio-rt-worker" => "manager",
        other => other,
    }
}

/// How often memory was asked for since the start, where that is counted.
#[cfg(feature = "allocations")]
pub(crate) fn allocations() -> Option<u64> {
    Some(dhat::HeapStats::get().total_blocks)
}

/// How often memory was asked for since the start: not counted here.
#[cfg(not(feature = "allocations"))]
pub(crate) fn allocations() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_what_it_used() {
        let sum: u64 = (0..20_000_000_u64).map(std::hint::black_box).sum();
        assert!(std::hint::black_box(sum) > 0);
        assert!(peak_memory_mb().is_some_and(|megabytes| megabytes > 0));
        assert!(!cpu_by_part().is_empty());
    }
}
