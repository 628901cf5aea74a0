//! The one owner of the season: a task that decides commands one after the other.
//!
//! A command is answered when its events, and all events before them, are durable. While the log commits, the actor already
//! decides the commands that arrive; their events are the next commit. Results wait a moment for others to share their commit,
//! so that a round of hundreds does not end in hundreds of commits.

use std::time::Duration;

use league_core::season::event::Event;
use league_core::season::{CommandOutcome, Season};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::time::Timestamp;
use league_store::log::{EventLog, LogHead};
use league_wire::environment::Environment;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout_at};

/// Commands that may wait in the queue; a further caller waits for a place in it.
const QUEUE: usize = 4096;
/// The most commands that share a commit.
const BATCH: usize = 1024;
/// How long results gather after a commit when nothing else waits for them.
const GATHER: Duration = Duration::from_millis(10);

/// Decides on the season; adds the events and the answer that is due once they are durable.
type Command = Box<dyn FnOnce(&mut Season, Timestamp, &mut Decided) + Send>;
type Finish = Box<dyn FnOnce(Result<(), RequestError>) + Send>;

/// Decisions whose events are not in the log yet.
#[derive(Default)]
struct Decided {
    events: Vec<Event>,
    finish: Vec<Finish>,
    /// Whether a caller waits for an answer that must not wait for other results.
    urgent: bool,
    /// Whether there are events other than results: in these, or in those that are being written.
    more: bool,
    more_before: bool,
    /// Why the season is no longer that of the log: only a part of a decision could be applied.
    broken: Option<String>,
}

impl Decided {
    fn take(&mut self) -> Self {
        let following = Self { more_before: self.more, ..Self::default() };
        std::mem::replace(self, following)
    }

    fn answer(self, committed: &Result<(), RequestError>) {
        for finish in self.finish {
            finish(committed.clone());
        }
    }

    /// Applies all events of a decision to the season it was made on. A single event that does not fit changes nothing. After a
    /// later one the season is no longer that of the log, and the actor must end.
    fn apply<T>(&mut self, season: &mut Season, outcome: CommandOutcome<T>) -> Result<T, RequestError> {
        for (index, event) in outcome.events.iter().enumerate() {
            if let Err(bad) = season.apply(event) {
                self.broken = (index > 0).then(|| bad.to_string());
                return Err(RequestError::new(ErrorCode::E015, None, bad.to_string()));
            }
        }
        self.events.extend(outcome.events);
        Ok(outcome.reply)
    }
}

/// A handle to the actor, cheap to clone.
#[derive(Clone, Debug)]
pub struct LeagueHandle {
    commands: mpsc::Sender<Command>,
    changes: watch::Receiver<u64>,
}

#[derive(Debug, thiserror::Error)]
pub enum LeagueClosed {
    #[error("the manager was stopped")]
    Stopped,
    /// The events of a decision could not be made durable, so nothing more may be decided.
    #[error("the event log cannot be written: {0}")]
    Log(String),
    /// Nothing of the decision is in the log, so a restart goes on from the state before it.
    #[error("a decision could be applied only in part: {0}; start the manager again")]
    Broken(String),
}

impl LeagueHandle {
    /// An actor for `season`, the state of `log` at `head`. Durable events go to `witness`. The future does the work; it ends when
    /// the last handle is dropped, or when the log fails.
    pub fn open<L: EventLog + 'static>(
        season: Season,
        head: LogHead,
        log: L,
        world: Environment,
        witness: impl Fn(&Event) + Send + 'static,
    ) -> (Self, impl Future<Output = LeagueClosed> + Send) {
        let (commands, inbox) = mpsc::channel(QUEUE);
        let (changed, changes) = watch::channel(0);
        let actor = LeagueActor {
            season,
            world,
            inbox,
            received: Vec::with_capacity(BATCH),
            decided: Decided::default(),
            closed: false,
        };
        (Self { commands, changes }, actor.work(head, log, changed, witness))
    }

    /// Lets `command` decide; returns its answer once its events are durable.
    pub async fn command<T, C>(&self, command: C) -> Result<T, RequestError>
    where
        T: Send + 'static,
        C: FnOnce(&Season, Timestamp) -> Result<CommandOutcome<T>, RequestError> + Send + 'static,
    {
        self.send(true, |season, now, decided| decided.apply(season, command(season, now)?)).await
    }

    /// Like [`command`](Self::command), but may wait a moment so that others share the commit. What ends a round, or lets another
    /// match begin, is committed at once.
    pub async fn command_batched<T, C>(&self, command: C) -> Result<T, RequestError>
    where
        T: Send + 'static,
        C: FnOnce(&Season, Timestamp) -> Result<CommandOutcome<T>, RequestError> + Send + 'static,
    {
        self.send(false, |season, now, decided| decided.apply(season, command(season, now)?)).await
    }

    /// What `view` returns, once everything that it saw is durable.
    pub async fn read<T, V>(&self, view: V) -> Result<T, RequestError>
    where
        T: Send + 'static,
        V: FnOnce(&Season, Timestamp) -> T + Send + 'static,
    {
        self.send(true, |season, now, _| Ok(view(season, now))).await
    }

    /// Like [`read`](Self::read), but may include results that are not yet committed. Not for anything that leaves the process.
    pub async fn read_uncommitted<T, V>(&self, view: V) -> Result<T, RequestError>
    where
        T: Send + 'static,
        V: FnOnce(&Season) -> T + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let command: Command = Box::new(move |season, _, decided| {
            let seen = view(season);
            // The caller may have gone.
            let finish = move |committed: Result<(), RequestError>| drop(reply.send(committed.map(|()| seen)));
            if decided.more || decided.more_before {
                decided.urgent = true;
                decided.finish.push(Box::new(finish));
            } else {
                finish(Ok(()));
            }
        });
        self.commands.send(command).await.map_err(|_| closing())?;
        answer.await.map_err(|_| closing())?
    }

    /// Counts the commits.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }

    async fn send<T, D>(&self, urgent: bool, decide: D) -> Result<T, RequestError>
    where
        T: Send + 'static,
        D: FnOnce(&mut Season, Timestamp, &mut Decided) -> Result<T, RequestError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let command: Command = Box::new(move |season, now, decided| {
            let before = decided.events.len();
            let decision = decide(season, now, decided);
            decided.urgent |= urgent;
            decided.more |= urgent && decided.events.len() > before;
            // The caller may have gone; the decision stands all the same.
            decided.finish.push(Box::new(move |committed| drop(reply.send(committed.and(decision)))));
        });
        self.commands.send(command).await.map_err(|_| closing())?;
        answer.await.map_err(|_| closing())?
    }
}

fn closing() -> RequestError {
    RequestError::new(ErrorCode::E015, None, "the manager is closing; try again when it is back")
}

struct LeagueActor {
    season: Season,
    world: Environment,
    inbox: mpsc::Receiver<Command>,
    received: Vec<Command>,
    decided: Decided,
    /// Whether the last handle was dropped.
    closed: bool,
}

impl LeagueActor {
    /// Decides the commands that arrive next.
    async fn receive(&mut self) {
        let room = BATCH - self.decided.finish.len();
        self.closed = self.inbox.recv_many(&mut self.received, room).await == 0;
        let now = self.world.now();
        for command in self.received.drain(..) {
            if self.decided.broken.is_none() {
                command(&mut self.season, now, &mut self.decided);
            }
        }
    }

    /// Whether another command may share the commit.
    fn has_room(&self) -> bool {
        !self.closed && self.decided.broken.is_none() && self.decided.finish.len() < BATCH
    }

    /// Waits for more commands to share the commit, as long as no caller is urgent.
    async fn gather(&mut self, until: Instant) {
        while self.has_room() && !self.decided.urgent && self.season.only_awaits_results() {
            if timeout_at(until, self.receive()).await.is_err() {
                return;
            }
        }
    }

    async fn work<L: EventLog>(
        mut self,
        mut head: LogHead,
        log: L,
        changed: watch::Sender<u64>,
        witness: impl Fn(&Event),
    ) -> LeagueClosed {
        let mut gathers_until = Instant::now();
        while !self.closed {
            self.receive().await;
            while !self.decided.events.is_empty() && self.decided.broken.is_none() {
                self.gather(gathers_until).await;
                if self.decided.broken.is_some() {
                    break;
                }
                let mut decided = self.decided.take();
                let mut writing = log.append(head, decided.events.clone());
                let committed = loop {
                    tokio::select! {
                        biased;
                        committed = &mut writing => break committed,
                        () = self.receive(), if self.has_room() => {}
                    }
                };
                self.decided.more_before = false;
                gathers_until = Instant::now() + GATHER;
                let events = std::mem::take(&mut decided.events);
                match committed {
                    Ok(committed) => head = committed,
                    Err(error) => {
                        tracing::error!(%error, "the event log cannot be written");
                        let message = "the result could not be stored; it is not counted";
                        let refused = Err(RequestError::new(ErrorCode::E015, None, message));
                        decided.answer(&refused);
                        // These were decided on events that are not in the log.
                        self.decided.answer(&refused);
                        return LeagueClosed::Log(error.to_string());
                    }
                }
                decided.answer(&Ok(()));
                events.iter().for_each(&witness);
                changed.send_modify(|count| *count += 1);
            }
            if let Some(reason) = self.decided.broken.take() {
                tracing::error!(%reason, "a decision could be applied only in part");
                self.decided.answer(&Err(closing()));
                return LeagueClosed::Broken(reason);
            }
            // Reads that are answered now have seen nothing that is not durable.
            std::mem::take(&mut self.decided).answer(&Ok(()));
        }
        LeagueClosed::Stopped
    }
}
