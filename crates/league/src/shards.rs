//! One runtime per core, each with its own connections: where hosted referees and players live.
//!
//! An agent stays on its core with everything that belongs to it. With hundreds of hosts that is about twice as fast as one
//! pool of threads that pass them around.

use std::num::NonZeroUsize;
use std::pin::Pin;
use std::thread;

use anyhow::{Context, Result};
use league_wire::client::Client;
use tokio::sync::mpsc;

use crate::agents::EVENTS;

/// Something to be run on a core, with the client of that core.
type Job = Box<dyn FnOnce(Client) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// The cores.
pub(crate) struct Shards {
    shards: Vec<mpsc::UnboundedSender<Job>>,
    next: usize,
}

impl Shards {
    /// As many as the machine has cores.
    pub(crate) fn start(make_client: impl Fn() -> Client + Clone + Send + 'static) -> Result<Self> {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let shards = (0..cores).map(|core| start(core, make_client.clone())).collect::<Result<_>>()?;
        Ok(Self { shards, next: 0 })
    }

    /// Has a job run on one of the cores, in turns. It ends with the process, or by itself.
    pub(crate) fn run<F, J>(&mut self, job: J)
    where
        F: Future<Output = ()> + Send + 'static,
        J: FnOnce(Client) -> F + Send + 'static,
    {
        let shard = &self.shards[self.next % self.shards.len()];
        self.next += 1;
        // A shard ends with its sender, which is here.
        let _ = shard.send(Box::new(move |client| Box::pin(job(client))));
    }
}

fn start(core: usize, make_client: impl Fn() -> Client + Send + 'static) -> Result<mpsc::UnboundedSender<Job>> {
    let (jobs, mut inbox) = mpsc::unbounded_channel::<Job>();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .event_interval(EVENTS)
        .enable_all()
        // Strategies think on these; most cores host more than one player.
        .max_blocking_threads(64)
        .build()
        .context("a runtime could not be started")?;
    thread::Builder::new()
        .name(format!("league-core-{core}"))
        .spawn(move || {
            runtime.block_on(async {
                let client = make_client();
                while let Some(job) = inbox.recv().await {
                    tokio::spawn(job(client.clone()));
                }
            });
            // A strategy that stalls must not keep the process from ending.
            runtime.shutdown_background();
        })
        .context("a thread could not be started")?;
    Ok(jobs)
}
