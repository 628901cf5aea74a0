//! The referee: the real program in a process of its own, and what it cost.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use crate::plan::Plan;

/// The process; killed when this is dropped.
pub(crate) struct Referee {
    child: Child,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Cost {
    pub processor: f64,
    /// The most memory that it had, in megabytes.
    pub memory: u64,
}

impl Referee {
    /// Starts a referee that runs as many matches as there are players for.
    pub(crate) fn start(plan: &Plan, home: &Path, manager: &str) -> Result<Self> {
        let child = Command::new(&plan.league)
            .args(["referee", "--referee-id", "REF01", "--port", "0", "--manager", manager])
            // A match is reported a moment before its place is free again.
            .args(["--capacity", &(2 * plan.matches).to_string()])
            .arg("--home")
            .arg(home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .with_context(|| format!("{} cannot be started", plan.league.display()))?;
        Ok(Self { child })
    }

    /// What it has used so far, where the system tells.
    pub(crate) fn cost(&self) -> Option<Cost> {
        let of = |file: &str| fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).ok();
        // Ticks are hundredths of a second on every Linux there is. The name of the program, in brackets, may hold anything.
        let stat = of("stat")?;
        let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
        let ticks: u64 = fields.get(11..13)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
        let status = of("status")?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?;
        Some(Cost { processor: ticks as f64 / 100.0, memory: peak.trim().parse::<u64>().ok()? / 1024 })
    }
}

impl Drop for Referee {
    fn drop(&mut self) {
        // It may be gone already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
