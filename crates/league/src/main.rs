//! `league`: the Even/Odd agent league in one binary.

mod cli;
mod simulate;
mod table;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command.unwrap_or_default() {
        Command::Simulate(options) => simulate::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("league: {error:#}");
            ExitCode::FAILURE
        }
    }
}
