//! What this process has used of the machine, as far as the system tells: Linux tells all of it.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// The clock ticks in which Linux counts processor time.
const TICKS_PER_SECOND: f64 = 100.0;

/// Seconds of processor time of a thread, or of some.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Cpu {
    pub(crate) user: f64,
    /// In the kernel, on the program's behalf: most of what is called the wire here.
    pub(crate) kernel: f64,
}

impl Cpu {
    pub(crate) fn all(self) -> f64 {
        self.user + self.kernel
    }

    /// As it stands in the `stat` file of a thread.
    fn read(stat: &str) -> Option<Self> {
        // Behind the name, which may hold anything, stand the fields; the twelfth and thirteenth are the times.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        let mut seconds = || Some(fields.next()?.parse::<f64>().ok()? / TICKS_PER_SECOND);
        Some(Self { user: seconds()?, kernel: seconds()? })
    }
}

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

/// Seconds of processor time that this process has used, to the microsecond.
#[cfg(unix)]
pub(crate) fn cpu_seconds() -> Option<f64> {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(used.tv_sec as f64 + used.tv_nsec as f64 / 1e9)
}

/// Seconds of processor time: nobody tells here.
#[cfg(not(unix))]
pub(crate) fn cpu_seconds() -> Option<f64> {
    None
}

/// When something began, and what had been used by then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    at: Instant,
    cpu: Option<f64>,
}

impl Start {
    pub(crate) fn now() -> Self {
        Self { at: Instant::now(), cpu: cpu_seconds() }
    }

    /// The seconds that have passed since, and those that processors have worked.
    pub(crate) fn spent(self) -> (f64, Option<f64>) {
        let cpu = cpu_seconds().zip(self.cpu).map(|(now, then)| now - then);
        (self.at.elapsed().as_secs_f64(), cpu.filter(|seconds| *seconds > 0.0))
    }
}

/// Processor time by what a thread is for, in hundredths of a second; nothing where the system does not tell.
pub(crate) fn cpu_by_part() -> BTreeMap<String, Cpu> {
    let mut parts = BTreeMap::<String, Cpu>::new();
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return parts };
    for thread in threads.flatten() {
        let read = |name: &str| fs::read_to_string(thread.path().join(name)).ok();
        let (Some(name), Some(stat)) = (read("comm"), read("stat")) else { continue };
        let Some(used) = Cpu::read(&stat) else { continue };
        let so_far = parts.entry(part(name.trim()).to_owned()).or_default();
        *so_far = Cpu { user: so_far.user + used.user, kernel: so_far.kernel + used.kernel };
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
    let stats = crate::ALLOCATOR.stats();
    Some((stats.allocations + stats.reallocations) as u64)
}

/// How often memory was asked for since the start: not counted here.
#[cfg(not(feature = "allocations"))]
pub(crate) fn allocations() -> Option<u64> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_what_it_used() {
        let start = Start::now();
        let sum: u64 = (0..20_000_000_u64).map(std::hint::black_box).sum();
        assert!(std::hint::black_box(sum) > 0);
        assert!(peak_memory_mb().is_some_and(|megabytes| megabytes > 0));
        assert!(!cpu_by_part().is_empty());
        let (seconds, worked) = start.spent();
        assert!(seconds > 0.0 && worked.is_some_and(|worked| worked > 0.0), "{seconds} {worked:?}");
    }

    #[test]
    fn times_are_found_behind_any_name() {
        let stat = "7 (a) name) R 1 2 3 4 -1 5 6 7 8 9 150 50 0 0";
        assert_eq!(Cpu::read(stat), Some(Cpu { user: 1.5, kernel: 0.5 }));
        assert_eq!(Cpu::read("nothing of the kind"), None);
    }
}
