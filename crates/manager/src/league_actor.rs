//! The task that owns the season and decides commands one after the other.
//!
//! A command is answered when its events and all earlier ones are durable. While the log commits, the actor decides
//! further commands, whose events form the next commit. Results wait briefly for others, so that a round of hundreds of
//! matches does not need hundreds of commits.

use std::time::Duration;

use league_core::season::event::Event;
use league_core::season::{CommandOutcome, Season};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::time::Timestamp;
use league_store::file_identity::FileGone;
use league_store::log::{EventLog, LogError, LogHead};
use league_wire::environment::Environment;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout_at};

const QUEUE: usize = 4096;
const BATCH: usize = 1024;
/// How long results wait for others to share their commit.
const GATHER: Duration = Duration::from_millis(10);

/// Adds events, and the answer that is sent once they are durable.
type Command = Box<dyn FnOnce(&mut Season, Timestamp, &mut Decided) + Send>;
type Finish = Box<dyn FnOnce(Result<(), RequestError>) + Send>;

#[derive(Default)]
struct Decided {
    events: Vec<Event>,
    finish: Vec<Finish>,
    /// A caller waits for an answer that other results must not delay.
    urgent: bool,
    /// These decisions contain events other than results.
    other_events: bool,
    /// So do the decisions that are being written.
    other_events_before: bool,
    /// Set when a decision was applied in part, so that the season no longer matches the log.
    broken: Option<String>,
}

impl Decided {
    fn take(&mut self) -> Self {
        let following = Self { other_events_before: self.other_events, ..Self::default() };
        std::mem::replace(self, following)
    }

    fn answer(self, committed: &Result<(), RequestError>) {
        for finish in self.finish {
            finish(committed.clone());
        }
    }

    /// An error at the first event changes nothing. After an error at a later one, the season no longer matches the log,
    /// and the actor must end.
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

#[derive(Clone, Debug)]
pub struct LeagueHandle {
    commands: mpsc::Sender<Command>,
    changes: watch::Receiver<u64>,
}

#[derive(Debug, thiserror::Error)]
pub enum LeagueClosed {
    #[error("the manager was stopped")]
    Stopped,
    /// The actor decides nothing more, because the events could not be made durable.
    #[error("the event log cannot be written: {0}")]
    Log(String),
    /// Another manager has taken the league over.
    #[error("{0}")]
    Deposed(String),
    /// The log or the lock was deleted or replaced.
    #[error("{0}")]
    Gone(FileGone),
    /// The log has nothing of the decision, so a restart continues from the state before it.
    #[error("a decision could be applied only in part: {0}; start the manager again")]
    Broken(String),
}

impl LeagueHandle {
    /// `season` is the state of `log` at `head`. Durable events go to `witness`. The returned future does the work; it
    /// ends when the last handle is dropped or the log fails.
    pub fn open<L: EventLog + 'static>(
        season: Season,
        head: LogHead,
        log: L,
        environment: Environment,
        witness: impl Fn(&Event) + Send + 'static,
    ) -> (Self, impl Future<Output = LeagueClosed> + Send) {
        let (commands, inbox) = mpsc::channel(QUEUE);
        let (changed, changes) = watch::channel(0);
        let actor = LeagueActor {
            season,
            environment,
            inbox,
            received: Vec::with_capacity(BATCH),
            decided: Decided::default(),
            closed: false,
        };
        (Self { commands, changes }, actor.work(head, log, changed, witness))
    }

    /// Returns the answer once the events are durable.
    pub async fn command<T: Send + 'static>(
        &self,
        command: impl FnOnce(&Season, Timestamp) -> Result<CommandOutcome<T>, RequestError> + Send + 'static,
    ) -> Result<T, RequestError> {
        self.send(true, |season, now, decided| decided.apply(season, command(season, now)?)).await
    }

    /// Like [`command`](Self::command), but may wait briefly so that others share the commit. Events that end a round or
    /// allow another match are committed at once.
    pub async fn command_batched<T: Send + 'static>(
        &self,
        command: impl FnOnce(&Season, Timestamp) -> Result<CommandOutcome<T>, RequestError> + Send + 'static,
    ) -> Result<T, RequestError> {
        self.send(false, |season, now, decided| decided.apply(season, command(season, now)?)).await
    }

    /// Returns once everything that `view` saw is durable.
    pub async fn read<T: Send + 'static>(
        &self,
        view: impl FnOnce(&Season, Timestamp) -> T + Send + 'static,
    ) -> Result<T, RequestError> {
        self.send(true, |season, now, _| Ok(view(season, now))).await
    }

    /// Like [`read`](Self::read), but may include results that are not yet committed. Not for data that leaves the
    /// process.
    pub async fn read_uncommitted<T: Send + 'static>(
        &self,
        view: impl FnOnce(&Season) -> T + Send + 'static,
    ) -> Result<T, RequestError> {
        let (reply, answer) = oneshot::channel();
        let command: Command = Box::new(move |season, _, decided| {
            let seen = view(season);
            let finish = move |committed: Result<(), RequestError>| drop(reply.send(committed.map(|()| seen)));
            if decided.other_events || decided.other_events_before {
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

    async fn send<T: Send + 'static>(
        &self,
        urgent: bool,
        decide: impl FnOnce(&mut Season, Timestamp, &mut Decided) -> Result<T, RequestError> + Send + 'static,
    ) -> Result<T, RequestError> {
        let (reply, answer) = oneshot::channel();
        let command: Command = Box::new(move |season, now, decided| {
            let before = decided.events.len();
            let decision = decide(season, now, decided);
            decided.urgent |= urgent;
            decided.other_events |= urgent && decided.events.len() > before;
            decided.finish.push(Box::new(move |committed| drop(reply.send(committed.and(decision)))));
        });
        self.commands.send(command).await.map_err(|_| closing())?;
        answer.await.map_err(|_| closing())?
    }
}

fn closing() -> RequestError {
    RequestError::new(ErrorCode::E015, None, "the manager is closing; try again when it is back")
}

fn closed_by(error: LogError) -> LeagueClosed {
    let reason = error.to_string();
    if let LogError::Gone(gone) = error {
        LeagueClosed::Gone(gone)
    } else if matches!(error, LogError::Deposed { .. }) {
        LeagueClosed::Deposed(reason)
    } else {
        LeagueClosed::Log(reason)
    }
}

struct LeagueActor {
    season: Season,
    environment: Environment,
    inbox: mpsc::Receiver<Command>,
    received: Vec<Command>,
    decided: Decided,
    closed: bool,
}

impl LeagueActor {
    async fn receive(&mut self) {
        let room = BATCH - self.decided.finish.len();
        self.closed = self.inbox.recv_many(&mut self.received, room).await == 0;
        let now = self.environment.now();
        for command in self.received.drain(..) {
            if self.decided.broken.is_none() {
                command(&mut self.season, now, &mut self.decided);
            }
        }
    }

    fn has_room(&self) -> bool {
        !self.closed && self.decided.broken.is_none() && self.decided.finish.len() < BATCH
    }

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
        let mut gather_until = Instant::now();
        let mut deposed = log.deposed();
        while !self.closed {
            tokio::select! {
                biased;
                error = &mut deposed => return LeagueClosed::Deposed(error.to_string()),
                () = self.receive() => {}
            }
            while !self.decided.events.is_empty() && self.decided.broken.is_none() {
                self.gather(gather_until).await;
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
                self.decided.other_events_before = false;
                gather_until = Instant::now() + GATHER;
                let events = std::mem::take(&mut decided.events);
                match committed {
                    Ok(committed) => head = committed,
                    Err(error) => {
                        tracing::error!(%error, "the event log cannot be written");
                        let message = "the result could not be stored; it is not counted";
                        let refused = Err(RequestError::new(ErrorCode::E015, None, message));
                        decided.answer(&refused);
                        // These decisions build on events that are not in the log.
                        self.decided.answer(&refused);
                        return closed_by(error);
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
            // These reads saw only durable events.
            std::mem::take(&mut self.decided).answer(&Ok(()));
        }
        LeagueClosed::Stopped
    }
}
