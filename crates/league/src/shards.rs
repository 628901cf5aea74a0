//! One runtime per core, each with its own connections: where hosted referees and players live.
//!
//! An agent stays on its core with everything that belongs to it. With hundreds of hosts that is about twice as fast as one
//! pool of threads that pass them around.

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

/// One of them; cheap to clone. It ends with the last clone.
#[derive(Clone)]
pub(crate) struct Core {
    pub(crate) runtime: Handle,
    /// The client of everybody who lives there.
    pub(crate) client: Client,
    _open: Arc<oneshot::Sender<()>>,
}

impl Shards {
    /// As many as the machine has cores.
    pub(crate) fn start(make_client: impl Fn() -> Client) -> Result<Self> {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let cores = (0..cores).map(|number| Core::start(number, &make_client)).collect::<Result<_>>()?;
        Ok(Self { cores, next: 0 })
    }

    /// A core for somebody to live on, in turns.
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
            // Strategies think on these; most cores host more than one player.
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
                // Nothing is ever sent: it is closed when nobody has it any more.
                drop(runtime.block_on(closed));
                // A strategy that stalls must not keep the process from ending.
                runtime.shutdown_background();
            })
            .context("a thread could not be started")?;
        Ok(core)
    }

    /// Has a job run here, with the client of this core. It ends with the core, or by itself.
    pub(crate) fn run<F>(&self, job: impl FnOnce(Client) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.runtime.spawn(job(self.client.clone()));
    }
}
