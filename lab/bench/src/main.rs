//! Measurements of whole leagues. `cargo xtask bench`, `load` and `viewers` build this program and `league`, and start
//! it.
//!
//! - `measure`: speed and cost of leagues, as a report for later comparisons
//! - `load`: one referee against thousands of players
//! - `crowd`: a Swiss league of thousands of players, and what a match costs in it
//! - `stores`: results per second with the log in PostgreSQL and in SQLite
//! - `viewers`: what viewers cost a league, and how soon they see an event
//! - `connect-four`: the values of the first moves
//! - `path`: a hot path whose instructions are counted

mod ceiling;
mod connect_four;
mod crowd;
mod figures;
mod load;
mod measure;
mod paths;
mod process;
mod query;
mod report;
mod stage;
mod stores;
mod tables;
mod viewers;

use std::process::ExitCode;

use clap::Parser;

/// The allocator of `league`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures the program `league`.
#[derive(Parser)]
enum Options {
    Measure(measure::Options),
    Load(load::Options),
    Viewers(viewers::Options),
    Crowd(crowd::Options),
    Stores(stores::Options),
    /// Solves Connect Four.
    ConnectFour,
    #[command(hide = true)]
    Watch(viewers::Audience),
    #[command(hide = true)]
    Path(paths::Options),
}

fn main() -> ExitCode {
    let done = match Options::parse() {
        Options::Measure(options) => measure::run(&options),
        Options::Load(options) => load::run(&options),
        Options::Viewers(options) => viewers::run(&options),
        Options::Crowd(options) => crowd::run(&options),
        Options::Stores(options) => stores::run(&options),
        Options::ConnectFour => connect_four::run(),
        Options::Watch(options) => viewers::watch(&options),
        Options::Path(options) => paths::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("league-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}
