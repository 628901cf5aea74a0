//! The event log: what the manager accepted, durable before it is acknowledged.
//!
//! [`EventLog`] is the one interface for reading and writing; the manager, every command, the pages and `verify` use it.
//! Another database is another implementation. Each event carries the hash of the one before ([`chain`]). So a log that was
//! edited, reordered or has a gap is noticed when it is read. A log whose end was cut off, or that was rewritten as a whole,
//! shows only to a reader who has kept a [`LogHead`].
//!
//! - [`chain`]: the hashes
//! - [`sqlite`]: the log in a file
//! - [`memory`]: the log on a disk that a simulation lets crash
//! - `scan`: reads a whole log on several threads; [`replay`] makes the season of it

pub mod chain;
pub mod memory;
mod scan;
pub mod sqlite;

use std::pin::Pin;
use std::task::{Context, Poll};

use league_core::replay::{Replay, ReplayError};
use league_core::season::event::Event;
use thiserror::Error;
use tokio::sync::oneshot;

pub use chain::{Hash, LogDamage, LogHead};
pub use memory::{MemoryDisk, MemoryLog};
pub use scan::scan;
pub use sqlite::SqliteLog;

/// The events of one league.
pub trait EventLog: Send + Sync {
    /// Appends `events` behind `after`, all or none. `after` is the fence: if the log ends elsewhere, another process has
    /// written to it, and this append fails with [`LogError::Conflict`]. An append without events only makes that check.
    /// The append happens even if the caller drops the answer.
    fn append(&self, after: LogHead, events: Vec<Event>) -> PendingAppend;

    /// The last durable event. Blocks on the storage.
    fn head(&self) -> Result<LogHead, LogError>;

    /// At most `limit` events after event number `after`, each with its own head, also while another process appends. The
    /// hash of each event is checked against the hash that is stored before it. Blocks on the storage.
    fn read(&self, after: u64, limit: usize) -> Result<Vec<(LogHead, Event)>, LogError>;
}

/// Why events cannot be stored or read. `log` is the name of the log for people: a path or a URL.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LogError {
    #[error("{log} cannot be used as a league's log: {reason}")]
    Unavailable { log: String, reason: String },
    #[error("{log} was written by {version} (log format {format}); use that version, or choose another --home")]
    OtherVersion { log: String, format: i64, version: String },
    /// No event after the damage is believed, and no event before it is discarded.
    #[error(
        "{log} is damaged: {damage}. Nothing was changed. Keep it as it is, with all files beside it, and put a good copy in \
         its place (`league verify` tells whether a copy is good), or begin anew with another --home"
    )]
    Damaged { log: String, damage: LogDamage },
    #[error("another process has written to the log: it ends at event {}, not at event {}", found.seq, after.seq)]
    Conflict { after: LogHead, found: LogHead },
    #[error("the log changed while it was read; try again")]
    Changed,
    /// Whether the events are there is seen when the log is opened again; they are all there or none is.
    #[error("the events could not be made durable: {reason}")]
    Failed { reason: String },
    #[error("the log takes nothing since a commit failed ({reason}); mend that and start the manager again")]
    Closed { reason: String },
    #[error("too many appends wait; wait for the answer to one of them first")]
    Busy,
    /// The log was dropped, or its disk crashed, before the commit.
    #[error("the log ended before the events were made durable")]
    Ended,
}

/// Why a log gives no season.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LoadError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("the log cannot be replayed: {0}")]
    Replay(#[from] ReplayError),
}

/// Replays the whole log. Each event also goes to `observe`.
pub fn replay(log: &dyn EventLog, mut observe: impl FnMut(Event)) -> Result<(Replay, LogHead), LoadError> {
    let mut replay = Replay::default();
    let head = scan(log, |_, event| {
        replay.apply(&event)?;
        observe(event);
        Ok::<_, LoadError>(())
    })?;
    Ok((replay, head))
}

/// The answer to an append: the head behind the appended events.
#[derive(Debug)]
#[must_use = "events are durable only once this has been answered"]
pub struct PendingAppend(oneshot::Receiver<Result<LogHead, LogError>>);

impl PendingAppend {
    pub fn pending() -> (oneshot::Sender<Result<LogHead, LogError>>, Self) {
        let (sender, receiver) = oneshot::channel();
        (sender, Self(receiver))
    }

    pub fn answered(answer: Result<LogHead, LogError>) -> Self {
        let (sender, appending) = Self::pending();
        // The receiver is in our hands.
        let _ = sender.send(answer);
        appending
    }

    /// Blocks until the answer is there; an async task awaits it instead.
    pub fn wait(self) -> Result<LogHead, LogError> {
        self.0.blocking_recv().unwrap_or(Err(LogError::Ended))
    }
}

impl Future for PendingAppend {
    type Output = Result<LogHead, LogError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|answer| answer.unwrap_or(Err(LogError::Ended)))
    }
}
