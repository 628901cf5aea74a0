//! Speed and cost of leagues and of the bare wire, in one run.
//!
//! Every league has its own process, so that none profits from another's caches. League and bare wire take turns, and
//! the median counts. Every measured league is verified.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use league_core::in_memory::InMemoryLeague;
use league_core::rules::seed::Seed;
use league_core::season::config::LeagueConfig;
use league_protocol::time::Timestamp;
use smol_str::format_smolstr;

use crate::report::{Growth, Pair, Report, Setting, median};
use crate::stage::{LEAGUE, Stage};
use crate::{ceiling, figures, tables};

const MOST_SIMULATED: u32 = 500;
/// A league with fewer matches is played three times: one run says little.
const SMALL: u32 = 1000;
const SMALL_RUNS: usize = 5;

const EXAMPLES: &str = "Examples:
  cargo xtask bench                                             minutes; everything but 1,000 players
  cargo xtask bench --growth 10,32,100,316,1000                 everything
  cargo xtask bench --json before.json                          keep the report, and later:
  cargo xtask bench --compare before.json                       what got worse since
  cargo xtask bench --report after.json --compare before.json   the same with two reports

docs/performance.md explains the figures.";

/// Measure leagues, or show an earlier report; compare it with another.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The program that is measured.
    #[arg(long, value_name = "PROGRAM")]
    league: PathBuf,
    /// Players of the league that is measured beside the wire.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(3..=2000))]
    players: u32,
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100))]
    referees: u32,
    /// How often both are measured.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    turns: u32,
    /// Sizes of leagues that show how cost grows; 1,000 players take minutes.
    #[arg(long, value_delimiter = ',', default_value = "10,32,100", value_parser = clap::value_parser!(u32).range(2..=2000))]
    growth: Vec<u32>,
    /// Results that a manager replays when it restarts.
    #[arg(long, default_value_t = 499_500, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    results: u32,
    /// A build of `league` with the feature `allocations`, which counts them in one more league.
    #[arg(long, value_name = "PROGRAM")]
    allocations_by: Option<PathBuf>,
    /// Show this report instead of measuring.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["players", "referees", "turns", "growth", "results", "allocations_by"])]
    report: Option<PathBuf>,
    /// Write the report.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the tables.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Compare with this report, and fail if a figure got worse.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let before = options.compare.as_deref().map(Report::read).transpose()?;
    let kept = options.report.as_deref().map(Report::read).transpose()?;
    let setting = kept.as_ref().map_or_else(|| setting(options), |report| report.setting.clone());
    // Fails before the measurement.
    if let Some(before) = before.as_ref().filter(|before| before.setting != setting) {
        bail!("these cannot be compared: before, {}; now, {setting}", before.setting);
    }
    let report = kept.map_or_else(|| measure(options, setting), Ok)?;
    if let Some(path) = &options.json {
        report.write(path)?;
    }
    let text = tables::all(&report).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    if let Some(path) = &options.markdown {
        std::fs::write(path, &text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    println!("{text}");
    let Some(before) = before else { return Ok(()) };
    let (table, worse) = figures::compare(&before, &report);
    println!("{table}");
    if worse.is_empty() { Ok(()) } else { bail!("worse than before: {}", worse.join("; ")) }
}

fn setting(options: &Options) -> Setting {
    Setting {
        players: options.players,
        referees: options.referees,
        results: options.results,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        build: String::from(if cfg!(debug_assertions) { "debug" } else { "release" }),
    }
}

fn measure(options: &Options, setting: Setting) -> Result<Report> {
    let Options { players, referees, turns, results, .. } = *options;
    let stage = Stage::new(&options.league)?;
    let all = 2 * turns as usize + options.growth.len() + 4 + usize::from(options.allocations_by.is_some());
    let mut steps = Steps { all, begun: 0 };
    let mut report = Report::new(setting);
    for turn in 1..=turns {
        let league =
            steps.run(&format!("a league of {players} players, turn {turn}"), || stage.play(players, referees))?;
        let ceiling = steps.run(&format!("the bare wire, turn {turn}"), || ceiling::measure(&league))?;
        report.pairs.push(Pair { league, ceiling });
    }
    if let Some(program) = &options.allocations_by {
        let counted = steps.run("allocations", || Stage::new(program)?.play(players, referees))?.allocations_per_match;
        report.allocations_per_match =
            Some(counted.context("this build counts none; it needs `--features allocations`")?);
    }
    for players in options.growth.iter().copied() {
        let title = format!("a league of {players} players and its restart");
        report.growth.push(steps.run(&title, || grown(&stage, players, referees))?);
    }
    report.league_query =
        steps.run(&format!("LEAGUE_QUERY while {players} play"), || stage.queried(players, referees))?;
    report.small_seconds = steps.run("a league of 4 players", || {
        let times = (0..SMALL_RUNS).map(|_| stage.timed(4, 2)).collect::<Result<Vec<_>>>()?;
        Ok(median(&times).unwrap_or_default())
    })?;
    report.simulated_per_second = steps.run("a simulated league", || simulated(results))?;
    report.restart = steps.run(&format!("a restart with {results} results"), || stage.restart_with(results))?;
    report.binary_mb = std::fs::metadata(&options.league)?.len() as f64 / 1e6;
    Ok(report)
}

/// For a small league, the run of three with the median cost.
fn grown(stage: &Stage, players: u32, referees: u32) -> Result<Growth> {
    let runs = if players * (players - 1) / 2 < SMALL { 3 } else { 1 };
    let mut grown = (0..runs).map(|_| stage.play_and_restart(players, referees)).collect::<Result<Vec<_>>>()?;
    let cost = |growth: &Growth| growth.figures.cpu_us_per_match().unwrap_or(growth.figures.playing_seconds);
    grown.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
    Ok(grown.swap_remove(runs / 2))
}

/// About `results` matches, unless that needs more players than `most`.
pub(crate) fn in_memory(results: u32, most: u32, keeps_events: bool) -> Result<InMemoryLeague> {
    let players = (2..=2000).find(|players| players * (players - 1) / 2 >= results).unwrap_or(2000).min(most);
    let config = LeagueConfig { max_players: players, ..LeagueConfig::even_odd(LEAGUE.parse()?) };
    let seed = Seed::new(7, config.league_id.clone());
    let names: Vec<_> = (1..=players).map(|number| format_smolstr!("Player {number}")).collect();
    let open = if keeps_events { InMemoryLeague::kept } else { InMemoryLeague::new };
    Ok(open(config, &names, seed, Timestamp::EPOCH)?)
}

/// Matches per second without sockets, on one core.
fn simulated(results: u32) -> Result<f64> {
    let began = Instant::now();
    let mut league = in_memory(results, MOST_SIMULATED, false)?;
    while league.play_round()? {}
    Ok(f64::from(league.season().matches_completed()) / began.elapsed().as_secs_f64())
}

struct Steps {
    all: usize,
    begun: usize,
}

impl Steps {
    fn run<T>(&mut self, what: &str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        self.begun += 1;
        let began = Instant::now();
        eprint!("[{} of {}] {what}", self.begun, self.all);
        let done = step().with_context(|| what.to_owned());
        eprintln!(": {:.1} s", began.elapsed().as_secs_f64());
        done
    }
}
