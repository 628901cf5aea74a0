//! Where measured leagues are played: processes of this very binary, in a home that is thrown away.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hdrhistogram::Histogram;
use league_protocol::id::LeagueId;
use league_protocol::message::standings::GetStandings;
use league_protocol::table::Call;
use league_store::home::Home;
use serde::de::IgnoredAny;
use tempfile::TempDir;

use super::ceiling::{Ceiling, Plan};
use crate::ask::Asker;
use crate::cli::Operator;
use crate::figures::Figures;

/// The pause between two questions to a manager that is busy.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(5);

/// A place for leagues.
pub(crate) struct Stage {
    directory: TempDir,
    program: PathBuf,
}

/// How long answers took, in microseconds.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Answered {
    /// How many were asked for.
    pub(crate) count: u64,
    /// How long half of them took at most.
    pub(crate) p50_us: u64,
    /// How long 99 of 100 took at most.
    pub(crate) p99_us: u64,
}

impl Stage {
    /// A place that is empty.
    pub(crate) fn new() -> Result<Self> {
        let directory = TempDir::new().context("there is no room for a league")?;
        let program = std::env::current_exe().context("this program cannot be found")?;
        Ok(Self { directory, program })
    }

    /// Where a home can be.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A league in a process of its own; verified, and gone.
    pub(crate) fn play(&self, players: u32, referees: u32) -> Result<Figures> {
        let home = self.path("home");
        let figures = self.play_in(&home, players, referees)?;
        self.clear(&home)?;
        Ok(figures)
    }

    /// The same, and how long its manager takes to be there again.
    pub(crate) fn play_and_restart(&self, players: u32, referees: u32) -> Result<(Figures, f64)> {
        let home = self.path("home");
        let figures = self.play_in(&home, players, referees)?;
        let restarted = self.restart(&home)?;
        self.clear(&home)?;
        Ok((figures, restarted))
    }

    fn play_in(&self, home: &Path, players: u32, referees: u32) -> Result<Figures> {
        let path = self.path("figures.json");
        let mut command = self.league(home, players, referees);
        command.arg("--figures").arg(&path);
        self.done(command)?;
        let figures = Figures::read(&path)?;
        let mut verify = self.command("verify");
        verify.arg("--home").arg(home);
        self.done(verify).context("a league that was measured does not hold")?;
        Ok(figures)
    }

    /// What the wire alone can do: as many calls with as many bytes as `figures` tell of.
    pub(crate) fn ceiling(&self, figures: &Figures) -> Result<Ceiling> {
        let (plan, result) = (self.path("plan.json"), self.path("ceiling.json"));
        fs::write(&plan, serde_json::to_vec(&Plan::of(figures))?)?;
        let mut command = self.command("ceiling");
        command.arg(&plan).arg(&result);
        self.done(command)?;
        Ok(serde_json::from_slice(&fs::read(&result)?)?)
    }

    /// How long it takes to ask a manager for the standings while it runs a league.
    pub(crate) fn asked_meanwhile(&self, players: u32, referees: u32) -> Result<Answered> {
        let home = self.path("home");
        let mut running = Running::start(self.league(&home, players, referees))?;
        let manager = running.line(|line| line.split_once("manager at ").map(|(_, url)| url.trim().to_owned()))?;
        let asker = Asker::new(&manager.parse()?, &Operator { token: None, ca: None })?;
        let mut times = Histogram::<u64>::new_with_bounds(1, 60_000_000, 2)?;
        while running.is_running()? {
            let began = Instant::now();
            // The end of the league is the end of its manager.
            if asker.ask::<IgnoredAny>(&Call::GetStandings(GetStandings::default())).is_err() {
                break;
            }
            times.saturating_record(u64::try_from(began.elapsed().as_micros())?);
            std::thread::sleep(BETWEEN_QUESTIONS);
        }
        running.end()?;
        self.clear(&home)?;
        Ok(Answered { count: times.len(), p50_us: times.value_at_quantile(0.5), p99_us: times.value_at_quantile(0.99) })
    }

    /// From the launch of a newcomer's league to its table: the median of some.
    pub(crate) fn small(&self, runs: usize) -> Result<f64> {
        let home = self.path("home");
        let mut times = Vec::new();
        for _ in 0..runs {
            let began = Instant::now();
            self.done(self.league(&home, 4, 2))?;
            times.push(began.elapsed().as_secs_f64());
            self.clear(&home)?;
        }
        Ok(super::report::median(&mut times))
    }

    /// From the launch of a manager in this home until it serves the league that `league run` plays first.
    fn restart(&self, home: &Path) -> Result<f64> {
        self.restart_of(home, &crate::open::newest(&Home::at(home))?)
    }

    /// From the launch of a manager of this league until it serves.
    pub(crate) fn restart_of(&self, home: &Path, league: &LeagueId) -> Result<f64> {
        let mut command = self.command("manager");
        command.args(["--port", "0", "--league-id", league.as_str(), "--home"]).arg(home);
        let began = Instant::now();
        let mut running = Running::start(command)?;
        running.line(|line| line.contains("the manager is at").then_some(()))?;
        let took = began.elapsed().as_secs_f64();
        running.stop()?;
        Ok(took)
    }

    /// The size of this binary, in megabytes.
    pub(crate) fn binary_mb(&self) -> Result<f64> {
        Ok(fs::metadata(&self.program)?.len() as f64 / 1e6)
    }

    fn league(&self, home: &Path, players: u32, referees: u32) -> Command {
        let mut command = self.command("run");
        command.args(["--port", "0", "--json", "--home"]).arg(home);
        command.arg("--players").arg(players.to_string()).arg("--referees").arg(referees.to_string());
        command
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(name).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    fn done(&self, mut command: Command) -> Result<()> {
        let output = command.stderr(Stdio::piped()).output().context("this program cannot be started again")?;
        if !output.status.success() {
            bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(())
    }

    /// Removes a home.
    pub(crate) fn clear(&self, home: &Path) -> Result<()> {
        fs::remove_dir_all(home).with_context(|| format!("{} cannot be removed", home.display()))
    }
}

/// A process that is listened to; it ends with this.
struct Running {
    child: Child,
    talk: BufReader<std::process::ChildStderr>,
    heard: String,
}

impl Running {
    fn start(mut command: Command) -> Result<Self> {
        let mut child = command.stderr(Stdio::piped()).spawn().context("this program cannot be started again")?;
        let stderr = child.stderr.take().context("a process says nothing")?;
        Ok(Self { child, talk: BufReader::new(stderr), heard: String::new() })
    }

    /// Waits for a line that tells something.
    fn line<T>(&mut self, tells: impl Fn(&str) -> Option<T>) -> Result<T> {
        loop {
            let mut line = String::new();
            if self.talk.read_line(&mut line)? == 0 {
                bail!("a league ended before it began: {}", self.heard.trim());
            }
            if let Some(told) = tells(&line) {
                return Ok(told);
            }
            self.heard.push_str(&line);
        }
    }

    fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    fn end(mut self) -> Result<()> {
        let ended = self.child.wait()?;
        if ended.success() { Ok(()) } else { bail!("a league failed: {ended}") }
    }

    fn stop(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already, or there is nobody left who wants to know.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
