//! The load run as a program: `cargo xtask load` builds and starts it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use league_load::plan::Plan;
use league_load::run::run;

/// One referee process against thousands of players.
#[derive(Parser)]
struct Options {
    /// The `league` program whose referee is to be tried.
    #[arg(long)]
    league: PathBuf,
    /// Matches that run at a time; twice as many players take part.
    #[arg(long, default_value_t = 1000)]
    matches: u32,
    /// Calls to be answered in all.
    #[arg(long, default_value_t = 1_000_000)]
    calls: u64,
    /// The time for each call, in milliseconds.
    #[arg(long, default_value_t = 1000)]
    limit: u64,
    /// Of a thousand questions, how many get no answer.
    #[arg(long, default_value_t = 10)]
    silent: u64,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let plan = Plan {
        league: options.league,
        matches: options.matches,
        calls: options.calls,
        limit: Duration::from_millis(options.limit),
        silent: options.silent,
    };
    match run(&plan) {
        Ok(report) => {
            println!("{report}");
            let missed = report.missed();
            for goal in &missed {
                eprintln!("missed: {goal}");
            }
            if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("load: {error:#}");
            ExitCode::FAILURE
        }
    }
}
