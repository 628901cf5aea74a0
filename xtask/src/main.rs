//! The workspace's own tasks, run as `cargo xtask <task>`. They use only the standard library, so this builds in
//! seconds.

mod bench;
mod bless;
mod delivery;
mod dist;
mod documents;
mod extension;
mod files;
mod fuzz;
mod image;
mod instructions;
mod licenses;
mod markdown;
mod peers;
mod picture;
mod postgres;
mod repository;
mod say;
mod steps;
mod structure;
mod tasks;
mod tools;
mod windows;

use std::env;
use std::process::ExitCode;

use repository::Repository;

/// The error says what went wrong and what to do.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let words: Vec<String> = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (task, arguments) = match tasks::parse(&words) {
        Ok(Some(found)) => found,
        Ok(None) => {
            print!("{}", tasks::help());
            return ExitCode::SUCCESS;
        }
        Err(wrong) => {
            say::error(&wrong);
            eprint!("\n{}", tasks::help());
            return ExitCode::from(2);
        }
    };
    match Repository::here().and_then(|repository| task.run(&repository, arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            say::error(&problem);
            ExitCode::FAILURE
        }
    }
}
