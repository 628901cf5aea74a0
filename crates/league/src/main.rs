//! `league`: the Even/Odd agent league in one binary.

// First, because its macros replace those of the standard library in every module below.
#[macro_use]
mod console;

mod agents;
mod ask;
mod check;
mod cli;
mod closing;
mod config;
mod copy;
mod create;
mod descriptors;
mod display;
mod export;
mod figures;
mod invitation;
mod keys;
mod leagues;
mod listen;
mod logs;
mod manual;
mod news;
mod nickname;
mod observe;
mod open;
mod operate;
mod operator;
mod orchestrator;
mod progress;
mod reachable;
mod results;
mod run;
mod secure;
mod serve;
mod shards;
mod show;
mod signals;
mod simulate;
mod source;
mod standby;
mod store;
mod strategies;
mod system_log;
mod table;
#[cfg(feature = "otel")]
mod traces;
mod verify;
mod words;

use std::process::ExitCode;

use clap::{FromArgMatches, Parser};
use league_protocol::table::Call;

use agents::in_runtime;
use cli::{Cli, Command, KeysCommand, Run};

/// A match allocates some thousand times; this allocator is faster than the system's.
#[cfg(not(feature = "allocations"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Counts allocations, at the cost of speed: all cores write to the same counters.
#[cfg(feature = "allocations")]
#[global_allocator]
static ALLOCATOR: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    let cli = Cli::from_arg_matches(&manual::command().get_matches()).unwrap_or_else(|error| error.exit());
    let command = cli.command.unwrap_or_else(|| Command::Run(Run::parse_from(["run"])));
    let _observed = observe::begin(&command);
    let done = match command {
        Command::Run(options) => run::run(&options),
        Command::Manager(options) => in_runtime(agents::run_manager(&options)),
        Command::Serve(options) => in_runtime(serve::run(&options)),
        Command::Create(options) => create::run(&options),
        Command::Referee(options) => in_runtime(agents::run_referee(&options)),
        Command::Player(options) => in_runtime(agents::run_player(&options)),
        Command::Show(options) => in_runtime(display::run(&options)),
        Command::Leagues(options) => leagues::run(&options),
        Command::Standings(which) => show::standings(&which),
        Command::Schedule(which) => show::schedule(&which),
        Command::Matches(which) => show::matches(&which),
        Command::Match { match_id, which } => show::one_match(&which, &match_id),
        Command::Agents(which) => show::agents(&which),
        Command::Status(which) => show::status(&which),
        Command::Start(options) => operate::run(&options, Call::StartLeague),
        Command::Stop(options) => operate::run(&options, Call::StopLeague),
        Command::Reopen(options) => operate::run(&options, Call::ReopenRegistration),
        Command::Keys { command: KeysCommand::Rotate { role, options } } => operate::rotate_key(role, &options),
        Command::Alerts(which) => show::alerts(&which),
        Command::Resolve { match_id, decision, options } => operate::resolve(&match_id, decision, &options),
        Command::Withdraw { agent, options } => operate::withdraw(&agent, &options),
        Command::ForgetDialect { player, options } => operate::forget_dialect(&player, &options),
        Command::Export(options) => export::run(&options),
        Command::Copy(options) => copy::run(&options),
        Command::Simulate(options) => simulate::run(&options),
        Command::Completions { shell } => {
            manual::completions(shell);
            Ok(())
        }
        Command::Man { directory } => manual::man(directory.as_deref()),
        // A failed check is a result and not an error.
        Command::Check(options) => return exit_code(check::run(&options)),
        Command::Verify(options) => return exit_code(verify::run(&options)),
    };
    exit_code(done.map(|()| ExitCode::SUCCESS))
}

fn exit_code(done: anyhow::Result<ExitCode>) -> ExitCode {
    let code = done.unwrap_or_else(|error| {
        eprintln!("league: {error:#}");
        ExitCode::FAILURE
    });
    match console::failure() {
        None => code,
        Some(error) => {
            eprintln!("league: the output could not be written: {error}; write it to a place with room");
            ExitCode::FAILURE
        }
    }
}
