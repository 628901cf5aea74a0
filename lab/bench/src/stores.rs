//! Results per second of the same league with its log in SQLite and in PostgreSQL.
//!
//! The leagues take turns, and the median of the ratios of two neighbours counts. Every measured league is verified.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::process::run as finish;
use crate::report::{RunFigures, median};

/// Of the rate on SQLite, PostgreSQL has to reach at least this part.
const LEAST: f64 = 0.7;
/// Names the server. The list of processes would show an argument.
const STORE: &str = "LEAGUE_STORE";

/// Measure a league on both stores, and fail if PostgreSQL is too slow. `LEAGUE_STORE` names the server.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The program that is measured.
    #[arg(long, value_name = "PROGRAM")]
    league: PathBuf,
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=2000))]
    players: u32,
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100))]
    referees: u32,
    /// How often both are measured.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    turns: u32,
    /// Do not judge the ratio: with a debug build it says nothing.
    #[arg(long)]
    any_ratio: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let store = std::env::var(STORE).with_context(|| format!("{STORE} has to name a PostgreSQL server"))?;
    let (mut ratios, mut rates) = (Vec::new(), (Vec::new(), Vec::new()));
    for turn in 1..=options.turns {
        // The second league finds a warmer machine, so the order alternates.
        let is_first = turn % 2 == 1;
        let first = rate(options, turn, (!is_first).then_some(&*store))?;
        let second = rate(options, turn, is_first.then_some(&*store))?;
        let (sqlite, postgres) = if is_first { (first, second) } else { (second, first) };
        eprintln!("{turn}: {sqlite:.0} results/s on SQLite, {postgres:.0} on PostgreSQL: {:.3}", postgres / sqlite);
        ratios.push(postgres / sqlite);
        rates.0.push(sqlite);
        rates.1.push(postgres);
    }
    let of = |values: &[f64]| median(values).unwrap_or_default();
    let ratio = of(&ratios);
    println!(
        "{} players, {} referees: {:.0} results/s on SQLite, {:.0} on PostgreSQL: {ratio:.3} (medians of {} turns)",
        options.players,
        options.referees,
        of(&rates.0),
        of(&rates.1),
        options.turns
    );
    if ratio < LEAST && !options.any_ratio {
        bail!("PostgreSQL has to reach {LEAST} of the rate on SQLite");
    }
    Ok(())
}

/// Results per second of one league; in SQLite without a `store`.
fn rate(options: &Options, turn: u32, store: Option<&str>) -> Result<f64> {
    let directory = tempfile::tempdir()?;
    let (home, figures) = (directory.path().join("home"), directory.path().join("figures.json"));
    // All turns use one database.
    let name = format!("rate_{}_{turn}", std::process::id());
    let mut play = league(options, "run", &home, &name, store);
    play.args(["--port", "0", "--json", "--seed", "7", "--figures"]).arg(&figures);
    play.args(["--players", &options.players.to_string(), "--referees", &options.referees.to_string()]);
    finish(&mut play)?;
    finish(&mut league(options, "verify", &home, &name, store)).context("a measured league is wrong")?;
    let figures: RunFigures = serde_json::from_slice(&fs::read(&figures)?).context("the league wrote no figures")?;
    Ok(figures.matches as f64 / figures.playing_seconds)
}

fn league(options: &Options, command: &str, home: &Path, name: &str, store: Option<&str>) -> Command {
    let mut league = Command::new(&options.league);
    league.args([command, "--league-id", name, "--home"]).arg(home);
    match store {
        Some(store) => league.env(STORE, store),
        None => league.env_remove(STORE),
    };
    league
}
