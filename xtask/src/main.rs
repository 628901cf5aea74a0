//! The workspace's own tasks, run as `cargo xtask <task>`.
//!
//! Standard library only: what checks the project must build at once, on a machine that has nothing but cargo.

mod args;
mod bench;
mod bless;
mod dist;
mod documents;
mod fuzz;
mod instructions;
mod licenses;
mod load;
mod markdown;
mod peers;
mod performance;
mod picture;
mod repository;
mod say;
mod simulate;
mod staged;
mod steps;
mod tools;
mod viewers;
mod windows;

use std::env;
use std::process::ExitCode;

use args::{HELP, Task};
use repository::Repository;

/// Done, or what went wrong and how to go on, in a sentence for the person at the keyboard.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let words: Vec<String> = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    match args::parse(&words) {
        Err(wrong) => {
            say::error(&wrong);
            eprint!("\n{HELP}");
            ExitCode::from(2)
        }
        Ok(task) => match run(task) {
            Err(problem) => {
                say::error(&problem);
                ExitCode::FAILURE
            }
            Ok(()) => ExitCode::SUCCESS,
        },
    }
}

fn run(task: Task) -> Outcome {
    match task {
        Task::Help => {
            print!("{HELP}");
            Ok(())
        }
        Task::Test { only: Some(step) } => steps::one(step, &Repository::here()?),
        Task::Test { only: None } => steps::all(&Repository::here()?),
        Task::Bench => bench::all(&Repository::here()?),
        Task::Dist => dist::make(&Repository::here()?),
        Task::Load => load::run(&Repository::here()?),
        Task::Performance => performance::measure(&Repository::here()?),
        Task::Viewers => viewers::measure(&Repository::here()?),
        Task::Picture => picture::take(&Repository::here()?),
        Task::Bless => bless::golden_files(&Repository::here()?),
        Task::Fuzz { target, seconds } => fuzz::run(&Repository::here()?, target.as_deref(), seconds),
        Task::Simulate { runs, seed } => simulate::run(&Repository::here()?, runs, seed),
    }
}
