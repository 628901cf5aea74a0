//! The manager's desk: the one owner of the season.
//!
//! Whoever wants something decided hands in a command. Commands that arrive together are decided one after the other and
//! share one commit; each is answered only when what it caused is durable. Between two commits nobody waits: what arrives
//! meanwhile is the next batch.

use league_core::season::event::Event;
use league_core::season::{Ruling, Season};
use league_protocol::error::{ErrorCode, Fault};
use league_protocol::time::Timestamp;
use league_store::log::EventLog;
use league_wire::world::World;
use tokio::sync::{mpsc, oneshot, watch};

/// The most commands that wait; whoever comes then waits outside.
const QUEUE: usize = 4096;
/// The most commands that share a commit.
const BATCH: usize = 1024;

/// Decides on the season, notes what happened, and says how to answer once that is durable.
type Order = Box<dyn FnOnce(&mut Season, Timestamp, &mut Vec<Event>) -> Finish + Send>;
type Finish = Box<dyn FnOnce(Result<(), Fault>) + Send>;

/// A handle to the desk, cheap to clone.
#[derive(Clone, Debug)]
pub struct Desk {
    orders: mpsc::Sender<Order>,
    changes: watch::Receiver<u64>,
}

/// Why the desk was closed.
#[derive(Debug, thiserror::Error)]
pub enum Closed {
    /// Nobody needs it any more.
    #[error("the manager was stopped")]
    Stopped,
    /// What was decided could not be made durable, so nothing more may be decided.
    #[error("the event log cannot be written: {0}")]
    Log(String),
}

impl Desk {
    /// A desk over `season`, whose events go to `log` and, once they are durable, before `witness`. The future is the desk at work: it ends when nobody is left to serve,
    /// or when the log fails.
    pub fn open<L: EventLog + 'static>(
        season: Season,
        log: L,
        world: World,
        witness: impl Fn(&Event) + Send + 'static,
    ) -> (Self, impl Future<Output = Closed> + Send) {
        let (orders, inbox) = mpsc::channel(QUEUE);
        let (changed, changes) = watch::channel(0);
        (Self { orders, changes }, work(season, log, world, inbox, changed, witness))
    }

    /// Lets `command` decide, and gives its answer once what it caused is durable.
    pub async fn act<T, C>(&self, command: C) -> Result<T, Fault>
    where
        T: Send + 'static,
        C: FnOnce(&Season, Timestamp) -> Result<Ruling<T>, Fault> + Send + 'static,
    {
        self.order(|season, now, events| {
            let ruling = command(season, now)?;
            for event in &ruling.events {
                // Decided on this very state, so it fits; if it ever did not, the log must not learn of it.
                season.apply(event).map_err(|bad| Fault::new(ErrorCode::E015, None, bad.to_string()))?;
            }
            events.extend(ruling.events);
            Ok(ruling.reply)
        })
        .await
    }

    /// What `view` sees, with everything durable that it shows.
    pub async fn look<T, V>(&self, view: V) -> Result<T, Fault>
    where
        T: Send + 'static,
        V: FnOnce(&Season, Timestamp) -> T + Send + 'static,
    {
        self.order(|season, now, _| Ok(view(season, now))).await
    }

    /// Tells of every change, without saying what changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }

    async fn order<T, D>(&self, decide: D) -> Result<T, Fault>
    where
        T: Send + 'static,
        D: FnOnce(&mut Season, Timestamp, &mut Vec<Event>) -> Result<T, Fault> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let order: Order = Box::new(move |season, now, events| {
            let decided = decide(season, now, events);
            Box::new(move |committed| {
                // Who asked may have given up; what was decided stands all the same.
                drop(reply.send(committed.and(decided)));
            })
        });
        let closed = || Fault::new(ErrorCode::E015, None, "the manager is closing; try again when it is back");
        self.orders.send(order).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }
}

async fn work<L: EventLog>(
    mut season: Season,
    log: L,
    world: World,
    mut inbox: mpsc::Receiver<Order>,
    changed: watch::Sender<u64>,
    witness: impl Fn(&Event),
) -> Closed {
    let mut batch = Vec::with_capacity(BATCH);
    while inbox.recv_many(&mut batch, BATCH).await > 0 {
        let now = world.now();
        let mut events = Vec::new();
        let finish: Vec<Finish> = batch.drain(..).map(|order| order(&mut season, now, &mut events)).collect();
        let changes = !events.is_empty();
        let committed = if changes { log.append(events.clone()).await.map(|_| ()) } else { Ok(()) };
        let answer = committed.as_ref().map(|_| ()).map_err(|error| {
            tracing::error!(%error, "the event log cannot be written");
            Fault::new(ErrorCode::E015, None, "the result could not be stored; it is not counted")
        });
        for finish in finish {
            finish(answer.clone());
        }
        if let Err(error) = committed {
            return Closed::Log(error.to_string());
        }
        if changes {
            events.iter().for_each(&witness);
            changed.send_modify(|count| *count += 1);
        }
    }
    Closed::Stopped
}
