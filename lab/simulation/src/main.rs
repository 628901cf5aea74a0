//! Runs seeds on all cores until some fail: `cargo xtask simulate`.

use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use clap::Parser;
use league_simulation::run::{Outcome, Wanted, run};

const ENOUGH: u64 = 10;
const TOLD_EVERY: u64 = 500;

/// The whole league in a simulation, seed after seed.
#[derive(Debug, Parser)]
struct Options {
    /// How many runs.
    #[arg(long, default_value_t = 10_000)]
    runs: u64,
    /// The first seed; the others follow on it.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let done = if options.runs == 1 { one(options.seed) } else { many(options.seed, options.runs) };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: the simulation itself failed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn one(seed: u64) -> Result<bool, Box<dyn Error + Send + Sync>> {
    let outcome = run(seed, Wanted { lines: true, ..Wanted::default() })?;
    for line in &outcome.lines {
        println!("{line}");
    }
    eprintln!("seed {seed}: {} events, trace {:016x}, ended at {}", outcome.count, outcome.hash, outcome.ended);
    if let Some(violation) = &outcome.violation {
        eprintln!("seed {seed} failed {violation}");
    }
    Ok(outcome.violation.is_none())
}

/// Stops after a few failures: one bug fails many seeds.
fn many(first: u64, runs: u64) -> Result<bool, Box<dyn Error + Send + Sync>> {
    let began = Instant::now();
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut sum = Sum::default();
    std::thread::scope(|scope| {
        let (results, outcomes) = mpsc::channel();
        for _ in 0..threads {
            let (next, results) = (&next, results.clone());
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    // The receiver may have stopped.
                    if number >= runs || results.send(run(first + number, Wanted::default())).is_err() {
                        return;
                    }
                }
            });
        }
        drop(results);
        for outcome in outcomes {
            let outcome = outcome?;
            sum.add(&outcome);
            if let Some(violation) = &outcome.violation {
                let seed = outcome.seed;
                eprintln!("seed {seed} failed {violation}");
                eprintln!("    see everything that happened: cargo xtask simulate --seed {seed} --runs 1");
                sum.failed += 1;
            }
            if sum.failed >= ENOUGH {
                break;
            }
            if sum.runs % TOLD_EVERY == 0 {
                let rate = sum.runs as f64 / began.elapsed().as_secs_f64();
                eprintln!("{} of {runs} runs, {rate:.0} a second", sum.runs);
            }
        }
        println!("{sum} in {:.1} s", began.elapsed().as_secs_f64());
        Ok(sum.failed == 0)
    })
}

#[derive(Debug, Default)]
struct Sum {
    runs: u64,
    hours: f64,
    results: u64,
    charged: u64,
    in_vain: u64,
    resumed: u64,
    failed: u64,
}

impl Sum {
    fn add(&mut self, outcome: &Outcome) {
        self.runs += 1;
        self.hours += outcome.ended.0 as f64 / 3_600_000.0;
        self.results += outcome.tally.results;
        self.charged += outcome.tally.charged;
        self.in_vain += outcome.tally.in_vain;
        self.resumed += outcome.tally.resumed.saturating_sub(1);
    }
}

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { runs, hours, results, charged, in_vain, resumed, failed } = self;
        write!(f, "{runs} runs, {hours:.1} simulated hours: {results} results, {charged} technical losses, ")?;
        write!(f, "{in_vain} attempts in vain, {resumed} restarts of the manager, {failed} failed,")
    }
}
