//! `league bench`: how fast this league is on this machine, beside how fast its wire is, in one run.
//!
//! Every league and every ceiling is a process of its own, so that none finds the caches and the memory of another. Figures that
//! are compared are taken in turns and the median counts: what the machine does meanwhile meets both alike. Every league that is
//! measured is verified. Data on stdout, talk on stderr.

mod ceiling;
mod compare;
mod goals;
mod guest;
mod page;
mod paths;
mod report;
mod restart;
mod stage;
mod steps;
mod tables;

use std::time::Instant;

use anyhow::{Context, Result, bail};
use league_core::in_memory::InMemoryLeague;
use league_core::rules::seed::Seed;
use league_core::season::config::LeagueConfig;
use league_protocol::time::Timestamp;
use smol_str::format_smolstr;

use crate::cli::{Bench, CeilingOptions, PathOptions};
use compare::Comparison;
use report::{Alone, Growth, Pair, Report, Setting};
use stage::Stage;
use steps::Steps;

/// How many players the simulated league has at most.
const SIMULATED: u32 = 500;
/// How many matches a league has that is not small.
const SMALL: u32 = 1000;
/// How often the league of a newcomer is timed.
const SMALL_RUNS: usize = 5;

/// Measures, or reads what was measured, and says what came out.
pub(crate) fn run(options: &Bench) -> Result<()> {
    let earlier = options.compare.as_deref().map(|path| anyhow::Ok((Report::read(path)?, path))).transpose()?;
    let kept = options.report.as_deref().map(Report::read).transpose()?;
    if let Some((earlier, path)) = &earlier {
        // Said before anything is measured for nothing.
        let setting = kept.as_ref().map_or_else(|| Setting::of(options), |report| report.setting.clone());
        setting.expect_like(earlier, path)?;
    }
    let report = match kept {
        Some(report) => report,
        None => measure(options)?,
    };
    let sections = tables::of(&report);
    if let Some(path) = &options.json {
        report.write(path)?;
    }
    if let Some(path) = &options.markdown {
        let text = page::markdown(&sections);
        std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    println!("{}", page::shown(&sections));
    let Some((earlier, path)) = earlier else { return Ok(()) };
    let (comparison, path) = (Comparison::of(&earlier, &report), path.display());
    println!("\n{}", page::shown(&[comparison.section(&path.to_string())]));
    let slower = comparison.slower();
    if !slower.is_empty() {
        bail!("slower than in {path}: {}", slower.join("; "));
    }
    eprintln!("Nothing got slower than in {path}.");
    Ok(())
}

fn measure(options: &Bench) -> Result<Report> {
    let stage = Stage::new()?;
    let Bench { players, referees, turns, results, .. } = *options;
    let counting = options.allocations_by.as_deref();
    let mut steps = Steps::new(2 * turns as usize + usize::from(counting.is_some()) + options.growth.len() + 4);
    let mut pairs = Vec::new();
    for turn in 1..=turns {
        let told = format!("turn {turn} of {turns}");
        let league = steps.take(format!("a league of {players} players, {told}"), || stage.play(players, referees))?;
        let ceiling = steps.take(format!("the wire alone, {told}"), || stage.ceiling(&league))?;
        pairs.push(Pair { league, ceiling });
    }
    let mut counted = None;
    if let Some(program) = counting {
        counted = Some(steps.take("allocations", || stage.allocations(program, players, referees))?);
    }
    let mut growth = Vec::new();
    for players in options.growth.iter().copied() {
        growth.push(
            steps
                .take(format!("a league of {players} players and its restart"), || grown(&stage, players, referees))?,
        );
    }
    let alone = Alone {
        league_query: steps
            .take(format!("LEAGUE_QUERY while {players} players play"), || stage.asked_meanwhile(players, referees))?,
        small_seconds: steps.take("a newcomer's league", || stage.small(SMALL_RUNS))?,
        simulated_per_second: steps.take("a simulated league", || simulated(results))?,
        restart: steps.take(format!("a restart with {} results", page::grouped(results.into())), || {
            restart::measure(&stage, results)
        })?,
        binary_mb: stage.binary_mb()?,
    };
    Ok(Report::new(Setting::of(options), pairs, counted, growth, alone))
}

/// A league of this size; a small one is over too soon to be judged by one run, so of three the one in the middle.
fn grown(stage: &Stage, players: u32, referees: u32) -> Result<Growth> {
    let runs = if players * (players - 1) / 2 < SMALL { 3 } else { 1 };
    let play = |_| stage.play_and_restart(players, referees).map(|(figures, restart)| Growth { figures, restart });
    let mut grown = (0..runs).map(play).collect::<Result<Vec<_>>>()?;
    let cost = |growth: &Growth| growth.figures.cpu_us_per_match().unwrap_or(growth.figures.playing_seconds);
    grown.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
    Ok(grown.swap_remove(runs / 2))
}

/// Drives bare servers by bare clients, as a league would; for the process that measures the ceiling.
pub(crate) fn ceiling(options: &CeilingOptions) -> Result<()> {
    ceiling::run(options)
}

/// Takes one of the hottest paths; for the process whose instructions are counted.
pub(crate) fn path(options: &PathOptions) -> Result<()> {
    paths::run(options)
}

/// Matches in a second without any sockets, on one core; of a league with so many results, unless that is too large.
fn simulated(results: u32) -> Result<f64> {
    let players = restart::players_for(results).min(SIMULATED);
    let config = LeagueConfig { max_players: players, ..LeagueConfig::even_odd("league_simulated".parse()?) };
    let seed = Seed::new(7, config.league_id.clone());
    let names: Vec<_> = (1..=players).map(|number| format_smolstr!("Player {number}")).collect();
    let chance = seed.clone();
    let began = Instant::now();
    let choose = |match_id: &_, player: &_| chance.choice(match_id, player);
    let mut rehearsal = InMemoryLeague::new(config, &names, seed, Timestamp::EPOCH, choose)?;
    while rehearsal.play_round()? {}
    Ok(f64::from(rehearsal.season().matches_completed()) / began.elapsed().as_secs_f64())
}
