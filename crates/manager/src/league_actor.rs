//! The manager's desk: the one owner of the season.
//!
//! Whoever wants something decided hands in a command. Commands are decided one after the other as they arrive, and each is answered only when what it
//! caused is durable, and everything before it. While the log commits, what arrives is decided already and is the next batch. Results
//! are patient: they gather for a moment, so that a round of hundreds does not end in hundreds of commits.

use std::time::Duration;

use league_core::season::event::Event;
use league_core::season::{CommandOutcome, Season};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::time::Timestamp;
use league_store::log::EventLog;
use league_wire::environment::Environment;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout_at};

/// The most commands that wait; whoever comes then waits outside.
const QUEUE: usize = 4096;
/// The most commands that share a commit.
const BATCH: usize = 1024;
/// How long results gather after a commit when nothing else waits for them.
const GATHER: Duration = Duration::from_millis(10);

/// Decides on the season, and notes what happened and how to answer once that is durable.
type Command = Box<dyn FnOnce(&mut Season, Timestamp, &mut Decided) + Send>;
type Finish = Box<dyn FnOnce(Result<(), RequestError>) + Send>;

/// What has been decided and is not in the log yet.
#[derive(Default)]
struct Decided {
    events: Vec<Event>,
    finish: Vec<Finish>,
    /// Whether somebody waits for an answer who is not patient.
    urgent: bool,
    /// Whether there is more among the events than results: in these, or in those that are being written.
    more: bool,
    more_before: bool,
}

impl Decided {
    /// Hands everything over to be written.
    fn take(&mut self) -> Self {
        let following = Self { more_before: self.more, ..Self::default() };
        std::mem::replace(self, following)
    }

    fn answer(self, committed: &Result<(), RequestError>) {
        for finish in self.finish {
            finish(committed.clone());
        }
    }
}

/// A handle to the desk, cheap to clone.
#[derive(Clone, Debug)]
pub struct LeagueHandle {
    orders: mpsc::Sender<Command>,
    changes: watch::Receiver<u64>,
}

#[derive(Debug, thiserror::Error)]
pub enum LeagueClosed {
    #[error("the manager was stopped")]
    Stopped,
    /// What was decided could not be made durable, so nothing more may be decided.
    #[error("the event log cannot be written: {0}")]
    Log(String),
}

impl LeagueHandle {
    /// A desk over `season`, whose events go to `log` and, once they are durable, before `witness`. The future is the desk at work: it ends when nobody is left to serve,
    /// or when the log fails.
    pub fn open<L: EventLog + 'static>(
        season: Season,
        log: L,
        world: Environment,
        witness: impl Fn(&Event) + Send + 'static,
    ) -> (Self, impl Future<Output = LeagueClosed> + Send) {
        let (orders, inbox) = mpsc::channel(QUEUE);
        let (changed, changes) = watch::channel(0);
        (Self { orders, changes }, work(season, log, world, inbox, changed, witness))
    }

    /// Lets `command` decide, and gives its answer once what it caused is durable.
    pub async fn command<T, C>(&self, command: C) -> Result<T, RequestError>
    where
        T: Send + 'static,
        C: FnOnce(&Season, Timestamp) -> Result<CommandOutcome<T>, RequestError> + Send + 'static,
    {
        self.order(true, |season, now, events| apply(season, command(season, now)?, events)).await
    }

    /// The same for who can wait a moment, so that others can share the commit. The round is not kept waiting: whatever ends it, or lets
    /// another match begin, is committed at once.
    pub async fn command_batched<T, C>(&self, command: C) -> Result<T, RequestError>
    where
        T: Send + 'static,
        C: FnOnce(&Season, Timestamp) -> Result<CommandOutcome<T>, RequestError> + Send + 'static,
    {
        self.order(false, |season, now, events| apply(season, command(season, now)?, events)).await
    }

    /// What `view` sees, with everything durable that it shows.
    pub async fn read<T, V>(&self, view: V) -> Result<T, RequestError>
    where
        T: Send + 'static,
        V: FnOnce(&Season, Timestamp) -> T + Send + 'static,
    {
        self.order(true, |season, now, _| Ok(view(season, now))).await
    }

    /// The same, except that results may not be durable yet, and nobody waits for those. For whoever tells nobody of them.
    pub async fn read_uncommitted<T, V>(&self, view: V) -> Result<T, RequestError>
    where
        T: Send + 'static,
        V: FnOnce(&Season) -> T + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let order: Command = Box::new(move |season, _, decided| {
            let seen = view(season);
            let finish = move |committed: Result<(), RequestError>| {
                // Who asked may have given up.
                drop(reply.send(committed.map(|()| seen)));
            };
            if decided.more || decided.more_before {
                decided.urgent = true;
                decided.finish.push(Box::new(finish));
            } else {
                finish(Ok(()));
            }
        });
        self.hand_in(order).await?;
        answer.await.map_err(|_| closing())?
    }

    /// Tells of every change, without saying what changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }

    async fn order<T, D>(&self, urgent: bool, decide: D) -> Result<T, RequestError>
    where
        T: Send + 'static,
        D: FnOnce(&mut Season, Timestamp, &mut Vec<Event>) -> Result<T, RequestError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let order: Command = Box::new(move |season, now, decided| {
            let before = decided.events.len();
            let ruled = decide(season, now, &mut decided.events);
            decided.urgent |= urgent;
            decided.more |= urgent && decided.events.len() > before;
            decided.finish.push(Box::new(move |committed| {
                // Who asked may have given up; what was decided stands all the same.
                drop(reply.send(committed.and(ruled)));
            }));
        });
        self.hand_in(order).await?;
        answer.await.map_err(|_| closing())?
    }

    async fn hand_in(&self, order: Command) -> Result<(), RequestError> {
        self.orders.send(order).await.map_err(|_| closing())
    }
}

fn closing() -> RequestError {
    RequestError::new(ErrorCode::E015, None, "the manager is closing; try again when it is back")
}

/// Has the season take what was decided on it.
fn apply<T>(season: &mut Season, ruling: CommandOutcome<T>, events: &mut Vec<Event>) -> Result<T, RequestError> {
    for event in &ruling.events {
        // Decided on this very state, so it fits; if it ever did not, the log must not learn of it.
        season.apply(event).map_err(|bad| RequestError::new(ErrorCode::E015, None, bad.to_string()))?;
    }
    events.extend(ruling.events);
    Ok(ruling.reply)
}

struct LeagueActor {
    season: Season,
    world: Environment,
    inbox: mpsc::Receiver<Command>,
    orders: Vec<Command>,
    decided: Decided,
    /// Nobody is left who could hand anything in.
    closed: bool,
}

impl LeagueActor {
    /// Decides what is handed in next.
    async fn receive(&mut self) {
        let room = BATCH - self.decided.finish.len();
        self.closed = self.inbox.recv_many(&mut self.orders, room).await == 0;
        let now = self.world.now();
        for order in self.orders.drain(..) {
            order(&mut self.season, now, &mut self.decided);
        }
    }

    /// Whether another command could still share the commit.
    fn has_room(&self) -> bool {
        !self.closed && self.decided.finish.len() < BATCH
    }

    /// Waits for more to share the commit, as long as everybody is patient.
    async fn gather(&mut self, until: Instant) {
        while self.has_room() && !self.decided.urgent && self.season.only_awaits_results() {
            if timeout_at(until, self.receive()).await.is_err() {
                return;
            }
        }
    }
}

async fn work<L: EventLog>(
    season: Season,
    log: L,
    world: Environment,
    inbox: mpsc::Receiver<Command>,
    changed: watch::Sender<u64>,
    witness: impl Fn(&Event),
) -> LeagueClosed {
    let (orders, decided) = (Vec::with_capacity(BATCH), Decided::default());
    let mut clerk = LeagueActor { season, world, inbox, orders, decided, closed: false };
    let mut gathers_until = Instant::now();
    while !clerk.closed {
        clerk.receive().await;
        while !clerk.decided.events.is_empty() {
            clerk.gather(gathers_until).await;
            let mut decided = clerk.decided.take();
            let mut writing = log.append(decided.events.clone());
            let committed = loop {
                tokio::select! {
                    biased;
                    committed = &mut writing => break committed,
                    () = clerk.receive(), if clerk.has_room() => {}
                }
            };
            clerk.decided.more_before = false;
            gathers_until = Instant::now() + GATHER;
            let answer = committed.as_ref().map(|_| ()).map_err(|error| {
                tracing::error!(%error, "the event log cannot be written");
                RequestError::new(ErrorCode::E015, None, "the result could not be stored; it is not counted")
            });
            let events = std::mem::take(&mut decided.events);
            decided.answer(&answer);
            if let Err(error) = committed {
                // It was decided on what is not so.
                clerk.decided.answer(&answer);
                return LeagueClosed::Log(error.to_string());
            }
            events.iter().for_each(&witness);
            changed.send_modify(|count| *count += 1);
        }
        // What only looked has seen nothing that is not durable now.
        std::mem::take(&mut clerk.decided).answer(&Ok(()));
    }
    LeagueClosed::Stopped
}
