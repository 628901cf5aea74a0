//! A process: its own runtime, whose clock advances only when the simulation says so.
//!
//! Killing a process drops its runtime, and with it every task: connections, matches, timers. Therefore each has its
//! own runtime.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep_until};

use crate::process_id::ProcessId;
use crate::sim_time::SimTime;
use crate::socket::{ProcessClock, Shared, SimConnector};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Exit {
    Done,
    /// The manager rejected its registration.
    TurnedAway(String),
    Failed(String),
}

#[derive(Debug)]
struct Alive {
    runtime: Runtime,
    clock: ProcessClock,
    exit: Arc<Mutex<Option<Exit>>>,
}

/// Also stands for a process that does not run now.
#[derive(Debug)]
pub struct Process {
    pub id: ProcessId,
    alive: Option<Alive>,
    pub due: Option<SimTime>,
    pub lives: u64,
}

impl Process {
    pub fn due(id: ProcessId, at: SimTime) -> Self {
        Self { id, alive: None, due: Some(at), lives: 0 }
    }

    pub fn is_alive(&self) -> bool {
        self.alive.is_some()
    }

    pub fn start<M, F>(&mut self, net: &Shared, at: SimTime, main: M) -> io::Result<()>
    where
        M: FnOnce(SimConnector) -> F,
        F: Future<Output = Exit> + Send + 'static,
    {
        // Without an I/O driver: there is no real I/O.
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build()?;
        let guard = runtime.enter();
        let clock = ProcessClock { born: at, origin: Instant::now() };
        drop(guard);
        let exit = Arc::new(Mutex::new(None));
        let (ended, work) = (Arc::clone(&exit), main(SimConnector { net: net.clone(), process: self.id, clock }));
        runtime.spawn(async move {
            let how = work.await;
            *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(how);
        });
        self.alive = Some(Alive { runtime, clock, exit });
        (self.due, self.lives) = (None, self.lives + 1);
        Ok(())
    }

    /// Runs until `until`; returns how it ended, if it did.
    pub fn step(&mut self, until: SimTime) -> Option<Exit> {
        let alive = self.alive.as_ref()?;
        let end = alive.clock.origin + (until - alive.clock.born);
        alive.runtime.block_on(async move { sleep_until(end).await });
        alive.exit.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Kills it at any point of its work.
    pub fn end(&mut self) {
        self.alive = None;
    }
}
