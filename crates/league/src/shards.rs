//! One runtime per core, each with its own connections, for hosted referees and players.
//!
//! An agent and its tasks stay on one core. With hundreds of agents that is about twice as fast as one pool of threads.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result};
use league_wire::client::Client;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::agents::EVENTS;

pub(crate) struct Shards {
    cores: Vec<Core>,
    next: usize,
}

/// Cheap to clone. Its runtime ends with the last clone.
#[derive(Clone)]
pub(crate) struct Core {
    pub(crate) runtime: Handle,
    pub(crate) client: Client,
    _open: Arc<oneshot::Sender<()>>,
}

impl Shards {
    pub(crate) fn start(make_client: impl Fn() -> Client) -> Result<Self> {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let cores = (0..cores).map(|number| Core::start(number, &make_client)).collect::<Result<_>>()?;
        Ok(Self { cores, next: 0 })
    }

    pub(crate) fn next(&mut self) -> Core {
        let core = self.cores[self.next % self.cores.len()].clone();
        self.next += 1;
        core
    }
}

impl Core {
    fn start(number: usize, make_client: impl Fn() -> Client) -> Result<Self> {
        let runtime = Builder::new_current_thread()
            .event_interval(EVENTS)
            .enable_all()
            // Strategies run on these; most cores host several players.
            .max_blocking_threads(64)
            .build()
            .context("a runtime could not be started")?;
        let client = {
            let _there = runtime.enter();
            make_client()
        };
        let (open, closed) = oneshot::channel();
        let core = Self { runtime: runtime.handle().clone(), client, _open: Arc::new(open) };
        thread::Builder::new()
            .name(format!("league-core-{number}"))
            .spawn(move || {
                // Resolves when the last clone is dropped.
                drop(runtime.block_on(closed));
                // A stalled strategy must not keep the process from exiting.
                runtime.shutdown_background();
            })
            .context("a thread could not be started")?;
        Ok(core)
    }

    pub(crate) fn run<F>(&self, job: impl FnOnce(Client) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.runtime.spawn(job(self.client.clone()));
    }
}
