//! Where measured leagues are played: processes of this very binary, in a home that is thrown away.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use league_protocol::id::{LeagueId, PlayerId};
use league_store::home::Home;
use tempfile::TempDir;

use super::ceiling::{Ceiling, Plan};
use super::guest;
use super::restart::Restart;
use crate::figures::Figures;
use crate::machine;

/// How often anybody may ask where somebody asks all the time.
const RATES: &str = r#"{ "rate_limits": { "questions": { "per_second": 10000, "burst": 10000 } } }"#;

pub(crate) struct Stage {
    directory: TempDir,
    program: PathBuf,
}

/// How long answers took, in microseconds.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Answered {
    pub(crate) count: u64,
    /// How long half of them took at most.
    pub(crate) p50_us: u64,
    /// How long 99 of 100 took at most.
    pub(crate) p99_us: u64,
    /// How long 999 of 1,000 took at most.
    pub(crate) p999_us: u64,
}

impl Stage {
    pub(crate) fn new() -> Result<Self> {
        let directory = TempDir::new().context("there is no room for a league")?;
        let program = std::env::current_exe().context("this program cannot be found")?;
        Ok(Self { directory, program })
    }

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

    /// The same, and its manager started again.
    pub(crate) fn play_and_restart(&self, players: u32, referees: u32) -> Result<(Figures, Restart)> {
        let home = self.path("home");
        let figures = self.play_in(&home, players, referees)?;
        let newest = crate::open::meant(&Home::at(&home), None)?;
        let restarted = self.restart(&home, &newest, u32::try_from(figures.matches)?)?;
        self.clear(&home)?;
        Ok((figures, restarted))
    }

    /// What `program`, another build of this one, counts of allocations in a league.
    pub(crate) fn allocations(&self, program: &Path, players: u32, referees: u32) -> Result<u64> {
        let program = fs::canonicalize(program).with_context(|| format!("there is no {}", program.display()))?;
        let other = Self { directory: TempDir::new().context("there is no room for a league")?, program };
        let counted = other.play(players, referees)?.allocations_per_match;
        counted.context("this build does not count allocations; build it with `--features allocations`")
    }

    fn play_in(&self, home: &Path, players: u32, referees: u32) -> Result<Figures> {
        let path = self.path("figures.json");
        let mut command = self.league(home, players, referees);
        command.arg("--figures").arg(&path);
        self.done(command)?;
        self.verify(home)?;
        Figures::read(&path)
    }

    /// Whatever was measured must have been right.
    fn verify(&self, home: &Path) -> Result<()> {
        let mut verify = self.command("verify");
        verify.arg("--home").arg(home);
        self.done(verify).context("a league that was measured does not hold")
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

    /// How long LEAGUE_QUERY takes while a league of so many is played: the last of them is a guest, who asks.
    pub(crate) fn asked_meanwhile(&self, players: u32, referees: u32) -> Result<Answered> {
        let home = self.path("home");
        // A guest that asks so often would soon be told to wait.
        let config = Home::at(&home).config();
        fs::create_dir_all(&config)?;
        fs::write(config.join("system.json"), RATES)?;
        let mut command = self.league(&home, players - 1, referees);
        command.args(["--guests", "1"]);
        let mut running = Running::start(command)?;
        let manager = running.line(|line| line.split_once("manager at ").map(|(_, url)| url.trim().to_owned()))?;
        let times = guest::ask_meanwhile(&manager.parse()?, PlayerId::numbered(players))?;
        running.end()?;
        self.verify(&home)?;
        self.clear(&home)?;
        let at = |quantile: f64| times.value_at_quantile(quantile);
        Ok(Answered { count: times.len(), p50_us: at(0.5), p99_us: at(0.99), p999_us: at(0.999) })
    }

    /// From the launch of a newcomer's league to its table: the median of some.
    pub(crate) fn small(&self, runs: usize) -> Result<f64> {
        let home = self.path("home");
        let mut times = Vec::new();
        for _ in 0..runs {
            let began = Instant::now();
            self.done(self.league(&home, 4, 2))?;
            times.push(began.elapsed().as_secs_f64());
            self.verify(&home)?;
            self.clear(&home)?;
        }
        Ok(super::report::median(&mut times))
    }

    /// From the launch of a manager of this league, which has so many results, until it serves.
    pub(crate) fn restart(&self, home: &Path, league: &LeagueId, results: u32) -> Result<Restart> {
        let mut command = self.command("manager");
        command.args(["--port", "0", "--league-id", league.as_str(), "--home"]).arg(home);
        let began = Instant::now();
        let mut running = Running::start(command)?;
        running.line(|line| line.contains("the manager is at").then_some(()))?;
        let seconds = began.elapsed().as_secs_f64();
        let manager_mb = machine::peak_memory_of(&running.child.id().to_string());
        running.stop()?;
        Ok(Restart { results, seconds, manager_mb })
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
