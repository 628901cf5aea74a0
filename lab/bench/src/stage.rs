//! Plays measured leagues: processes of the measured program, in temporary homes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use league_store::home::Home;
use league_store::log::{EventLog, LogHead};
use tempfile::TempDir;

use crate::measure::in_memory;
use crate::process::{Running, run};
use crate::query;
use crate::report::{AnswerTimes, Growth, Restart, RunFigures};

pub(crate) const LEAGUE: &str = "league_bench";
/// A client that asks all the time would reach the default limits.
const RATES: &str = r#"{ "rate_limits": { "questions": { "per_second": 10000, "burst": 10000 } } }"#;

pub(crate) struct Stage {
    directory: TempDir,
    program: PathBuf,
}

impl Stage {
    pub(crate) fn new(program: &Path) -> Result<Self> {
        let program = fs::canonicalize(program).with_context(|| format!("there is no {}", program.display()))?;
        Ok(Self { directory: TempDir::new()?, program })
    }

    pub(crate) fn play(&self, players: u32, referees: u32) -> Result<RunFigures> {
        let (home, path) = (self.home()?, self.directory.path().join("figures.json"));
        run(self.league(&home, players, referees).arg("--figures").arg(&path))?;
        self.verify(&home)?;
        serde_json::from_slice(&fs::read(&path)?).context("`league run --figures` wrote no figures")
    }

    pub(crate) fn play_and_restart(&self, players: u32, referees: u32) -> Result<Growth> {
        let figures = self.play(players, referees)?;
        let restart = self.restart(u32::try_from(figures.matches)?)?;
        Ok(Growth { figures, restart })
    }

    pub(crate) fn timed(&self, players: u32, referees: u32) -> Result<f64> {
        let home = self.home()?;
        let began = Instant::now();
        run(&mut self.league(&home, players, referees))?;
        let seconds = began.elapsed().as_secs_f64();
        self.verify(&home)?;
        Ok(seconds)
    }

    /// The last player asks.
    pub(crate) fn queried(&self, players: u32, referees: u32) -> Result<AnswerTimes> {
        let home = self.home()?;
        let config = Home::at(&home).config();
        fs::create_dir_all(&config)?;
        fs::write(config.join("system.json"), RATES)?;
        let mut league = Running::start(self.league(&home, players - 1, referees).args(["--guests", "1"]))?;
        let manager = league.line(|line| line.split_once("manager at ").map(|(_, url)| url.trim().to_owned()))?;
        let times = query::ask_meanwhile(&manager)?;
        league.end()?;
        self.verify(&home)?;
        let at = |quantile: f64| times.value_at_quantile(quantile);
        Ok(AnswerTimes { count: times.len(), p50_us: at(0.5), p99_us: at(0.99), p999_us: at(0.999) })
    }

    /// Writes the log of a league with about `results` results, and starts a manager on it.
    pub(crate) fn restart_with(&self, results: u32) -> Result<Restart> {
        let (home, league) = (Home::at(self.home()?), LEAGUE.parse()?);
        home.prepare(&league)?;
        let (log, mut head) = (home.log(&league), LogHead::GENESIS);
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let mut played = in_memory(results, u32::MAX, true)?;
        loop {
            let more = played.play_round()?;
            head = runtime.block_on(log.append(head, played.take_events()))?;
            if !more {
                break;
            }
        }
        drop(log);
        self.restart(played.season().matches_completed())
    }

    fn restart(&self, results: u32) -> Result<Restart> {
        let mut command = Command::new(&self.program);
        command
            .args(["manager", "--port", "0", "--league-id", LEAGUE, "--home"])
            .arg(self.directory.path().join("home"));
        let began = Instant::now();
        let mut manager = Running::start(&mut command)?;
        manager.line(|line| line.contains("the manager is at").then_some(()))?;
        let seconds = began.elapsed().as_secs_f64();
        Ok(Restart { results, seconds, manager_mb: manager.used().map(|used| used.peak_mb) })
    }

    /// Replaces the previous home.
    fn home(&self) -> Result<PathBuf> {
        let home = self.directory.path().join("home");
        if home.exists() {
            fs::remove_dir_all(&home)?;
        }
        Ok(home)
    }

    fn league(&self, home: &Path, players: u32, referees: u32) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["run", "--port", "0", "--json", "--league-id", LEAGUE, "--home"]).arg(home);
        command.arg("--players").arg(players.to_string()).arg("--referees").arg(referees.to_string());
        command
    }

    fn verify(&self, home: &Path) -> Result<()> {
        run(Command::new(&self.program).args(["verify", "--home"]).arg(home)).context("a measured league is wrong")
    }
}
