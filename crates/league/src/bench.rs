//! `league bench`: how fast this league is on this machine, beside how fast its wire is, in one run.
//!
//! Every league and every ceiling is a process of its own, so that none finds the caches and the memory of another. Figures that
//! are compared are taken in turns and the median counts: what the machine does meanwhile meets both alike.

mod ceiling;
mod compare;
mod goals;
mod report;
mod restart;
mod stage;

use std::time::Instant;

use anyhow::{Context, Result, bail};
use league_core::rehearsal::Rehearsal;
use league_core::rules::seed::Seed;
use league_core::season::config::Config;
use league_protocol::time::Timestamp;
use smol_str::format_smolstr;

use crate::cli::{Bench, CeilingOptions};
use report::{Growth, Pair, Report};
use stage::Stage;

/// How many players the simulated league has.
const SIMULATED: u32 = 500;
/// How many games the league of a newcomer is timed for.
const SMALL_RUNS: usize = 5;

/// Measures, and says what came out.
pub(crate) fn run(options: &Bench) -> Result<()> {
    let earlier = options.compare.as_deref().map(Report::read).transpose()?;
    let stage = Stage::new()?;
    let mut pairs = Vec::new();
    for turn in 1..=options.turns {
        eprintln!("League and ceiling, {} players, turn {turn} of {}", options.players, options.turns);
        let league = stage.play(options.players, options.referees)?;
        let ceiling = stage.ceiling(&league)?;
        pairs.push(Pair { league, ceiling });
    }
    let mut growth = Vec::new();
    for players in options.growth.iter().copied() {
        eprintln!("A league of {players}");
        let (figures, restart_seconds) = stage.play_and_restart(players, options.referees)?;
        growth.push(Growth { figures, restart_seconds });
    }
    eprintln!("Standings asked for while a league of {} is played", options.players);
    let query_us = stage.asked_meanwhile(options.players, options.referees)?;
    eprintln!("A newcomer's league, a simulated one, and a restart with {} results", options.results);
    let report = Report {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        pairs,
        growth,
        query_us,
        small_seconds: stage.small(SMALL_RUNS)?,
        simulated_per_second: simulated()?,
        restart: restart::measure(&stage, options.results)?,
        binary_mb: stage.binary_mb()?,
    };
    println!("{}", report.table());
    if let Some(path) = &options.json {
        report.write(path)?;
    }
    if let Some(path) = &options.markdown {
        std::fs::write(path, report.markdown()).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    match earlier.map(|earlier| compare::slower(&earlier, &report)) {
        Some(slower) if !slower.is_empty() => bail!("slower than before:\n{}", slower.join("\n")),
        Some(_) => eprintln!("Nothing got slower."),
        None => {}
    }
    Ok(())
}

/// Drives bare servers by bare clients, as a league would; for the process that measures the ceiling.
pub(crate) fn ceiling(options: &CeilingOptions) -> Result<()> {
    ceiling::run(options)
}

/// Matches in a second without any sockets, on one core.
fn simulated() -> Result<f64> {
    let config = Config { max_players: SIMULATED, ..Config::even_odd("league_simulated".parse()?) };
    let seed = Seed::new(7, config.league_id.clone());
    let names: Vec<_> = (1..=SIMULATED).map(|number| format_smolstr!("Player {number}")).collect();
    let chance = seed.clone();
    let began = Instant::now();
    let choose = |match_id: &_, player: &_| chance.choice(match_id, player);
    let mut rehearsal = Rehearsal::new(config, &names, seed, Timestamp::EPOCH, choose)?;
    while rehearsal.play_round()? {}
    Ok(f64::from(rehearsal.season().matches_completed()) / began.elapsed().as_secs_f64())
}
