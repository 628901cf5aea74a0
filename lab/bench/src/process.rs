//! Processes of the measured program: their output and what they used of the machine. Killed when dropped.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::{fs, thread};

use anyhow::{Context, Result, bail};

pub(crate) struct Running {
    child: Child,
    stderr: Option<BufReader<ChildStderr>>,
}

/// Known only on Linux.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Used {
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_mb: u64,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = quiet.spawn().with_context(|| format!("{command:?} cannot be started"))?;
        let stderr = child.stderr.take().map(BufReader::new);
        Ok(Self { child, stderr })
    }

    /// Waits for a line of stderr that `finds` accepts; discards the rest.
    pub(crate) fn line<T>(&mut self, finds: impl Fn(&str) -> Option<T>) -> Result<T> {
        let found = self.find(finds)?;
        if let Some(mut stderr) = self.stderr.take() {
            // A pipe that is never read would block the process.
            thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        }
        Ok(found)
    }

    /// Waits for a line of stderr that `finds` accepts. The caller has to wait for a later [`line`](Self::line), too.
    pub(crate) fn find<T>(&mut self, finds: impl Fn(&str) -> Option<T>) -> Result<T> {
        let stderr = self.stderr.as_mut().context("the process has been read already")?;
        let mut read = String::new();
        loop {
            let begin = read.len();
            if stderr.read_line(&mut read)? == 0 {
                bail!("the process ended too soon: {}", read.trim());
            }
            if let Some(found) = finds(&read[begin..]) {
                return Ok(found);
            }
        }
    }

    /// Fails unless the process succeeds.
    pub(crate) fn end(mut self) -> Result<()> {
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { bail!("the process failed: {status}") }
    }

    pub(crate) fn used(&self) -> Option<Used> {
        let proc = |file: &str| fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).ok();
        let (stat, status) = (proc("stat")?, proc("status")?);
        // The program name, in brackets, may contain any character. The times are in hundredths of a second.
        let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
        let ticks: u64 = fields.get(11..13)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?;
        Some(Used { cpu_seconds: ticks as f64 / 100.0, peak_mb: peak.trim().parse::<u64>().ok()? / 1024 })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output();
    let output = output.with_context(|| format!("{command:?} cannot be started"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
