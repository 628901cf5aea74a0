//! A run from beginning to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use league_store::home::Home;
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::crowd::Crowd;
use crate::manager::{LEAGUE, Manager};
use crate::metronome::Metronome;
use crate::plan::Plan;
use crate::referee::Referee;
use crate::report::Report;
use crate::sweep::Sweeper;
use crate::tally::{Done, Read};

/// All tables are open after this time. A thousand matches that begin in the same moment connect to two thousand players first, and what is to be
/// seen is how a referee bears up with all of them under way.
const RAMP: Duration = Duration::from_secs(3);

/// Carries out `plan`.
pub fn run(plan: &Plan) -> Result<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(play(plan))
}

/// A place for the referee's files, in memory where there is one: they come and go by the hundred, which is not what a disk is for, nor
/// what is measured here.
fn place() -> std::io::Result<TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

async fn play(plan: &Plan) -> Result<Report> {
    let home = place().context("there is no place for the referee's files")?;
    let (done, read) = (Arc::<Done>::default(), Arc::<Read>::default());
    let crowd = Crowd::gather(plan, &done).context("the crowd cannot be gathered; `ulimit -n` may be too low")?;
    let manager = Arc::new(Manager::open()?);
    let process = Referee::start(plan, home.path(), &manager.endpoint)?;
    let referee = manager.referee().await?;
    let sweeper = Sweeper::start(Home::at(home.path()).matches(&LEAGUE.parse()?), Arc::clone(&read))?;

    let metronome = Metronome::start()?;
    let (began, next) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let mut tables = JoinSet::<Result<()>>::new();
    for (pair, place) in crowd.endpoints.chunks_exact(2).zip(0_usize..) {
        let (manager, referee, plan, next) = (Arc::clone(&manager), referee.clone(), plan.clone(), Arc::clone(&next));
        let (a, b) = (pair[0].clone(), pair[1].clone());
        let opens = began + RAMP * u32::try_from(place)? / plan.matches;
        tables.spawn(async move {
            tokio::time::sleep_until(opens.into()).await;
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed) + 1;
                if number > plan.rounds() {
                    return Ok(());
                }
                manager.play(&referee, &plan, number, [(2 * place + 1, &a), (2 * place + 2, &b)]).await?;
            }
        });
    }
    while let Some(table) = tables.join_next().await {
        table.context("a table broke down")??;
    }
    let took = began.elapsed();
    let machine = metronome.finish();
    let cost = process.cost().unwrap_or_default();
    // A file is on its way when its match is reported; there are as many as matches.
    while read.files.get() < plan.rounds() && began.elapsed() < took + plan.limit * 20 {
        tokio::time::sleep(plan.limit / 4).await;
    }
    sweeper.finish();
    Ok(Report {
        matches: read.files.get(),
        answered: read.answered.get(),
        late_crowd: done.late.get(),
        silent: done.silent.get(),
        timeouts: read.timeouts.get(),
        broken: read.broken.get(),
        lateness: read.lateness(),
        overrun: read.overrun(),
        grants: read.grants(),
        machine,
        cost,
        took,
    })
}
