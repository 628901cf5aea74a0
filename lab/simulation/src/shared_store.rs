//! A store that two managers share: a lease by the store's own clock, and requests that fail at every step.
//!
//! A request may be lost before it takes effect, or its answer after it. A manager may also be cut off for some time. The store
//! refuses every append without the last epoch. The checker makes sure that no epoch has two writers, and that no manager
//! writes in an earlier epoch. A store without that fence shows that the checker notices.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use league_core::season::event::Event;
use league_store::log::election::{Election, ElectionInput, ElectionStep};
use league_store::log::{EventLog, LogError, LogHead, MemoryDisk, MemoryLog, PendingAppend};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::process_id::ProcessId;
use crate::rng::Rng;
use crate::sim_time::SimTime;
use crate::socket::ProcessClock;

const LEASE: Duration = Duration::from_secs(2);
const RENEW_EVERY: Duration = Duration::from_millis(400);
pub const POLL: Duration = Duration::from_millis(100);
const RETRY_PAUSE: Duration = Duration::from_millis(50);
/// A manager that cannot write for so long ends.
const RETRY_LIMIT: Duration = Duration::from_secs(6);

/// Which appends the store accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fence {
    /// Those of the last epoch.
    #[default]
    LastEpoch,
    /// All. Shows that the checker notices.
    Missing,
}

#[derive(Clone, Debug)]
pub struct SharedStore(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    disk: MemoryDisk,
    fence: Fence,
    rng: Rng,
    /// Per thousand requests.
    lost: u64,
    longest: Duration,
    epoch: u64,
    holder: Option<ProcessId>,
    expires: SimTime,
    /// Until when a manager cannot reach the store.
    cut_off: BTreeMap<ProcessId, SimTime>,
    writers: BTreeMap<u64, ProcessId>,
    violation: Option<String>,
}

/// What becomes of a request.
enum Passage {
    Through,
    /// It takes effect, and its answer is lost.
    AnswerLost,
    Lost,
}

impl State {
    fn passage(&mut self, process: ProcessId, now: SimTime) -> Passage {
        if self.cut_off.get(&process).is_some_and(|until| now < *until) {
            return Passage::Lost;
        }
        match self.rng.within(0, 999) {
            roll if roll < self.lost => Passage::Lost,
            roll if roll < 2 * self.lost => Passage::AnswerLost,
            _ => Passage::Through,
        }
    }

    fn is_free(&self, now: SimTime) -> bool {
        self.expires <= now
    }

    fn renew(&mut self, epoch: u64, now: SimTime) -> bool {
        if epoch == self.epoch {
            self.expires = now + LEASE;
        }
        epoch == self.epoch
    }

    fn wrote(&mut self, epoch: u64, process: ProcessId) {
        let (writer, last) = (*self.writers.entry(epoch).or_insert(process), self.epoch);
        if writer != process {
            self.violation.get_or_insert(format!("{process} wrote in epoch {epoch}, in which {writer} had written"));
        } else if epoch != last {
            self.violation.get_or_insert(format!("{process} wrote in epoch {epoch} after epoch {last} had begun"));
        }
    }
}

impl SharedStore {
    pub fn new(seed: u64, disk: MemoryDisk, fence: Fence, lost: u64, longest: Duration) -> Self {
        Self(Arc::new(Mutex::new(State {
            disk,
            fence,
            rng: Rng::new(seed, &[9]),
            lost,
            longest,
            epoch: 0,
            holder: None,
            expires: SimTime::BEGIN,
            cut_off: BTreeMap::new(),
            writers: BTreeMap::new(),
            violation: None,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The manager that took the lease last.
    pub fn holder(&self) -> Option<ProcessId> {
        self.state().holder
    }

    pub fn cut_off(&self, process: ProcessId, until: SimTime) {
        self.state().cut_off.insert(process, until);
    }

    pub fn violation(&self) -> Option<String> {
        self.state().violation.clone()
    }

    /// One look at the lease by a manager that follows.
    pub fn compete(&self, election: &mut Election, process: ProcessId, now: SimTime) -> ElectionStep {
        let mut state = self.state();
        let step = match state.passage(process, now) {
            Passage::Lost | Passage::AnswerLost => ElectionInput::Unanswered,
            Passage::Through => ElectionInput::Seen { epoch: state.epoch, is_free: state.is_free(now) },
        };
        if election.decide(step) != ElectionStep::Take {
            return election.decide(ElectionInput::Unanswered);
        }
        let passage = state.passage(process, now);
        if matches!(passage, Passage::Lost) {
            return election.decide(ElectionInput::Unanswered);
        }
        let taken = state.is_free(now).then(|| {
            (state.epoch, state.holder, state.expires) = (state.epoch + 1, Some(process), now + LEASE);
            state.epoch
        });
        election.decide(match passage {
            Passage::Through => ElectionInput::Taken(taken),
            Passage::AnswerLost | Passage::Lost => ElectionInput::Unanswered,
        })
    }

    /// The log of the manager that leads `epoch`. Its lease is renewed until the log is dropped.
    pub fn log(&self, election: Election, epoch: u64, process: ProcessId, clock: ProcessClock) -> SharedLog {
        let log = Arc::new(self.state().disk.open());
        let deposed = watch::Sender::new(false);
        let writer = Writer { store: self.clone(), log, epoch, process, clock, deposed };
        tokio::spawn(keep_lease(writer.clone(), election));
        SharedLog(writer)
    }
}

#[derive(Clone, Debug)]
struct Writer {
    store: SharedStore,
    log: Arc<MemoryLog>,
    epoch: u64,
    process: ProcessId,
    clock: ProcessClock,
    deposed: watch::Sender<bool>,
}

async fn keep_lease(writer: Writer, mut election: Election) {
    loop {
        sleep(RENEW_EVERY).await;
        let now = writer.clock.now();
        let mut state = writer.store.state();
        let passage = state.passage(writer.process, now);
        let renewed = if matches!(passage, Passage::Lost) { false } else { state.renew(writer.epoch, now) };
        drop(state);
        let input = match passage {
            Passage::Through => ElectionInput::Renewed(renewed),
            Passage::Lost | Passage::AnswerLost => ElectionInput::Unanswered,
        };
        if election.decide(input) == ElectionStep::Stop {
            writer.deposed.send_replace(true);
            return;
        }
    }
}

#[derive(Debug)]
pub struct SharedLog(Writer);

impl Writer {
    fn is_deposed(&self) -> LogError {
        LogError::Deposed { log: String::from("the simulated store") }
    }

    /// As in PostgreSQL: after a lost answer the end of the log shows whether the events are in it.
    async fn append(&self, after: LogHead, events: Vec<Event>) -> Result<LogHead, LogError> {
        let until = self.clock.now() + RETRY_LIMIT;
        let mut end = after;
        for event in &events {
            let body = serde_json::to_string(event).map_err(|error| LogError::Failed { reason: error.to_string() })?;
            end = end.then(&body);
        }
        while self.clock.now() < until {
            let most = u64::try_from(self.store.state().longest.as_millis()).unwrap_or(1);
            let span = self.store.state().rng.millis(1, most);
            sleep(span).await;
            match self.try_append(after, end, &events) {
                Some(answer) => return answer,
                None => sleep(RETRY_PAUSE).await,
            }
        }
        Err(LogError::Failed { reason: String::from("the store does not answer") })
    }

    /// `None` to try again.
    fn try_append(&self, after: LogHead, end: LogHead, events: &[Event]) -> Option<Result<LogHead, LogError>> {
        let now = self.clock.now();
        let mut state = self.store.state();
        let passage = state.passage(self.process, now);
        if matches!(passage, Passage::Lost) {
            return None;
        }
        let disk = state.disk.clone();
        let found = self.log.head().ok()?;
        let answer = if state.epoch != self.epoch {
            match state.fence {
                Fence::LastEpoch => Some(Err(self.is_deposed())),
                Fence::Missing => {
                    state.wrote(self.epoch, self.process);
                    Some(Ok(end))
                }
            }
        } else if state.is_free(now) {
            state.renew(self.epoch, now);
            None
        } else if found == end {
            Some(Ok(end))
        } else if found == after {
            let appending = self.log.append(after, events.to_vec());
            disk.sync();
            state.wrote(self.epoch, self.process);
            drop(appending);
            Some(Ok(end))
        } else {
            Some(Err(LogError::Conflict { after, found }))
        };
        if matches!(passage, Passage::AnswerLost) { None } else { answer }
    }
}

impl EventLog for SharedLog {
    fn append(&self, after: LogHead, events: Vec<Event>) -> PendingAppend {
        let (reply, appending) = PendingAppend::pending();
        let writer = self.0.clone();
        tokio::spawn(async move {
            // The manager may have ended.
            drop(reply.send(writer.append(after, events).await));
        });
        appending
    }

    fn head(&self) -> Result<LogHead, LogError> {
        self.0.log.head()
    }

    fn read(&self, after: u64, limit: usize) -> Result<Vec<(LogHead, Event)>, LogError> {
        self.0.log.read(after, limit)
    }

    fn deposed(&self) -> Pin<Box<dyn Future<Output = LogError> + Send>> {
        let (mut deposed, error) = (self.0.deposed.subscribe(), self.0.is_deposed());
        Box::pin(async move {
            let is_deposed = deposed.wait_for(|deposed| *deposed).await.is_ok();
            if is_deposed { error } else { std::future::pending().await }
        })
    }
}
