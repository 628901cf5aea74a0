//! A process: a runtime of its own, with a clock of its own that stands still unless it is told to go on.
//!
//! Killing one drops its runtime, and with it every task it had spawned anywhere: connections, matches, timers. That is why
//! each has a runtime of its own.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep_until};

use crate::process_id::ProcessId;
use crate::sim_time::SimTime;
use crate::socket::{ProcessClock, Shared, SimConnector};

/// How a process ended by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Exit {
    /// It had nothing more to do.
    Done,
    /// It was not let into the league.
    TurnedAway(String),
    Failed(String),
}

#[derive(Debug)]
struct Alive {
    runtime: Runtime,
    watch: ProcessClock,
    exit: Arc<Mutex<Option<Exit>>>,
}

/// A process, or the place where one was.
#[derive(Debug)]
pub struct Process {
    pub place: ProcessId,
    alive: Option<Alive>,
    /// When it is to be started, where that is so.
    pub due: Option<SimTime>,
    pub lives: u64,
}

impl Process {
    /// A process that is to be started at this moment.
    pub fn due(place: ProcessId, at: SimTime) -> Self {
        Self { place, alive: None, due: Some(at), lives: 0 }
    }

    pub fn is_alive(&self) -> bool {
        self.alive.is_some()
    }

    /// Starts it: what it does is `main`.
    pub fn start<M, F>(&mut self, net: &Shared, at: SimTime, main: M) -> io::Result<()>
    where
        M: FnOnce(SimConnector) -> F,
        F: Future<Output = Exit> + Send + 'static,
    {
        // No I/O driver: there is nothing outside.
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build()?;
        let guard = runtime.enter();
        let watch = ProcessClock { born: at, origin: Instant::now() };
        drop(guard);
        let exit = Arc::new(Mutex::new(None));
        let (ended, work) = (Arc::clone(&exit), main(SimConnector { net: net.clone(), place: self.place, watch }));
        runtime.spawn(async move {
            let how = work.await;
            *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(how);
        });
        self.alive = Some(Alive { runtime, watch, exit });
        (self.due, self.lives) = (None, self.lives + 1);
        Ok(())
    }

    /// Lets it run until this moment; says how it ended, if it did.
    pub fn step(&mut self, until: SimTime) -> Option<Exit> {
        let alive = self.alive.as_ref()?;
        let end = alive.watch.origin + (until - alive.watch.born);
        alive.runtime.block_on(async move { sleep_until(end).await });
        alive.exit.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Ends it, in the middle of whatever it does.
    pub fn end(&mut self) {
        self.alive = None;
    }
}
