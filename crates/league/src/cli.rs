//! What can be typed.

use clap::{Args, Parser, Subcommand};

/// The Even/Odd agent league: manager, referees and players in one binary.
#[derive(Debug, Parser)]
#[command(name = "league", version, about, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// What to do; `simulate` when left out.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const EXAMPLES: &str = "Examples:
  league                              play a league of four in memory
  league simulate --players 20        play a league of twenty
  league simulate --seed 7 --json     the same league every time, for programs

Exit codes: 0 done, 1 failed, 2 wrong arguments";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play a whole league in memory, by the same rules and without any agents.
    Simulate(Simulate),
}

impl Default for Command {
    fn default() -> Self {
        Self::Simulate(Simulate { players: 4, seed: None, json: false })
    }
}

/// How to simulate.
#[derive(Debug, Args)]
pub(crate) struct Simulate {
    /// How many players take part.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=2000))]
    pub(crate) players: u32,
    /// Makes the league repeatable: the same seed gives the same results.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Print the standings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
