//! One real `league referee` against thousands of players, with a manager that always has the next match.
//!
//! Players take up to three quarters of their limit, and a few are silent now and then. A player that answers within
//! four fifths of its limit must not lose technically; a silent one must, and soon. The receipts in the match files
//! show both.

mod manager;
mod players;
mod receipts;
mod timer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use league_store::home::Home;
use tokio::task::JoinSet;

use crate::process::{Running, Used};
use manager::{LEAGUE, Manager};
use players::{Answers, Players};
use receipts::{Receipts, Spread, Sweeper};
use timer::Timer;

/// An invitation, a question and the result, to both sides.
const CALLS_PER_MATCH: u64 = 6;
/// All matches begin within this time; the load counts when all of them run.
const RAMP: Duration = Duration::from_secs(3);
/// 99 of 100 passed deadlines must be noticed within this many milliseconds.
const LATEST_MS: u64 = 10;

/// Load one referee process, and fail if a player is charged that answered in time.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// The program whose referee is tried.
    #[arg(long, value_name = "PROGRAM")]
    league: PathBuf,
    /// Matches at a time; twice as many players take part.
    #[arg(long, default_value_t = 1000)]
    matches: u32,
    /// Calls to be answered in all.
    #[arg(long, default_value_t = 1_000_000)]
    calls: u64,
    /// The time for each call, in milliseconds.
    #[arg(long = "limit", default_value_t = 1000)]
    limit_ms: u64,
    /// Of a thousand questions, how many get no answer.
    #[arg(long, default_value_t = 10)]
    silent: u64,
    /// Do not judge how soon the referee notices a passed deadline: on a busy machine that says nothing.
    #[arg(long)]
    any_delay: bool,
}

impl Options {
    fn limit(&self) -> Duration {
        Duration::from_millis(self.limit_ms)
    }

    fn all_matches(&self) -> u64 {
        self.calls.div_ceil(CALLS_PER_MATCH)
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(play(options))?;
    println!("{report}");
    let mut missed = report.wrong_charges();
    if report.receipts.lateness().p99 > LATEST_MS && !options.any_delay {
        missed.push(format!("1 in 100 deadlines was noticed more than {LATEST_MS} ms late"));
    }
    if missed.is_empty() { Ok(()) } else { bail!("{}", missed.join("; ")) }
}

async fn play(options: &Options) -> Result<Report> {
    // In memory if possible: writing hundreds of files is not what is measured.
    let home = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
    let (answers, receipts) = (Arc::<Answers>::default(), Arc::<Receipts>::default());
    let players = Players::start(options, &answers).context("players cannot listen; `ulimit -n` may be too low")?;
    let manager = Arc::new(Manager::start()?);
    let process = Running::start(&mut referee(options, home.path(), &manager.endpoint()))?;
    let referee = manager.referee().await?;
    let sweeper = Sweeper::start(Home::at(home.path()).matches(&LEAGUE.parse()?), Arc::clone(&receipts))?;
    let timer = Timer::start()?;
    let (began, next) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let mut tables = JoinSet::<Result<()>>::new();
    for (pair, number) in players.endpoints.chunks_exact(2).zip(0_usize..) {
        let (manager, next) = (Arc::clone(&manager), Arc::clone(&next));
        let (referee, options) = (referee.clone(), options.clone());
        let (a, b) = (pair[0].clone(), pair[1].clone());
        let opens = began + RAMP * u32::try_from(number)? / options.matches;
        tables.spawn(async move {
            tokio::time::sleep_until(opens.into()).await;
            loop {
                let played = next.fetch_add(1, Ordering::Relaxed) + 1;
                if played > options.all_matches() {
                    return Ok(());
                }
                manager.play(&referee, options.limit(), played, [(2 * number + 1, &a), (2 * number + 2, &b)]).await?;
            }
        });
    }
    while let Some(table) = tables.join_next().await {
        table??;
    }
    let (took, timer, used) = (began.elapsed(), timer.finish(), process.used().unwrap_or_default());
    // A match is reported before its file is written.
    while receipts.counts().files < options.all_matches() && began.elapsed() < took + options.limit() * 20 {
        tokio::time::sleep(options.limit() / 4).await;
    }
    sweeper.finish();
    Ok(Report { answers, receipts, timer, used, took })
}

fn referee(options: &Options, home: &Path, manager: &str) -> Command {
    let mut command = Command::new(&options.league);
    command.args(["referee", "--referee-id", "REF01", "--port", "0", "--manager", manager]);
    // A match is reported shortly before its capacity is free again.
    command.args(["--capacity", &(2 * options.matches).to_string(), "--home"]).arg(home);
    command
}

struct Report {
    answers: Arc<Answers>,
    receipts: Arc<Receipts>,
    /// How late an otherwise idle thread woke up.
    timer: Spread,
    used: Used,
    took: Duration,
}

impl Report {
    /// Timeouts of players that answered in time, and missing timeouts of silent ones.
    fn wrong_charges(&self) -> Vec<String> {
        let (silent, late) = (self.answers.silent(), self.answers.late());
        let (timeouts, broken) = {
            let counts = self.receipts.counts();
            (counts.timeouts.len() as u64, counts.broken)
        };
        let claims = [
            // Players that were late themselves may get a timeout.
            (timeouts.saturating_sub(silent + late), "timeouts were charged to players that answered in time"),
            (silent.saturating_sub(timeouts), "silent players were not charged"),
            (broken, "connections broke"),
        ];
        claims.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, lateness) = (self.took.as_secs_f64(), self.receipts.lateness());
        let counts = self.receipts.counts();
        let (answered, grants) = (counts.answered, Spread::of(counts.grants.clone()));
        let overrun = Spread::of(counts.timeouts.iter().map(|(late, _)| *late).collect());
        for (name, value) in [
            ("matches", format!("{} in {seconds:.1} s", counts.files)),
            ("calls answered", format!("{answered} ({:.0} a second)", answered as f64 / seconds)),
            ("late players", self.answers.late().to_string()),
            ("silent on purpose", self.answers.silent().to_string()),
            ("timeouts charged", counts.timeouts.len().to_string()),
            ("broken", counts.broken.to_string()),
            ("noticed late by", lateness.to_string()),
            ("with the grant", overrun.to_string()),
            ("a bare timer", self.timer.to_string()),
            ("grants", format!("{}; {grants}", grants.count)),
            ("referee", format!("{:.1} s of a processor, {} MB at most", self.used.cpu_seconds, self.used.peak_mb)),
        ] {
            writeln!(f, "{name:<18} {value}")?;
        }
        Ok(())
    }
}
