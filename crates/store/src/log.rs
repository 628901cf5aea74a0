//! The event log: the events that the manager accepted, durable before they are acknowledged.
//!
//! [`EventLog`] is the one interface for reading and writing; the manager, every command, the pages and `verify` use it.
//! Each event carries the hash of the one before ([`chain`]), so a reader notices an edit, a reordering or a gap. Only a
//! reader that kept a [`LogHead`] notices a log that was cut off or rewritten as a whole.
//!
//! - [`sqlite`]: the log in a file
//! - [`memory`]: the log on a simulated disk
//! - `scan`: reads a whole log on several threads; [`replay`] builds the season from it

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

use crate::file_identity::FileGone;

pub use chain::{Hash, LogDamage, LogHead};
pub use memory::{MemoryDisk, MemoryLog};
pub use scan::scan;
pub use sqlite::SqliteLog;

pub trait EventLog: Send + Sync {
    /// Appends `events` after `after`, all or none. If the log ends elsewhere, another process has written to it, and the
    /// append fails with [`LogError::Conflict`]. An append without events only makes that check. The append happens even
    /// if the caller drops the answer.
    fn append(&self, after: LogHead, events: Vec<Event>) -> PendingAppend;

    /// The last durable event. Blocks on the storage.
    fn head(&self) -> Result<LogHead, LogError>;

    /// Returns at most `limit` events after event number `after`, each with its own head, also while another process
    /// appends. Checks the hash of each event against the stored hash before it. Blocks on the storage.
    fn read(&self, after: u64, limit: usize) -> Result<Vec<(LogHead, Event)>, LogError>;
}

/// `log` names the log for people: a path or a URL.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LogError {
    #[error("{log} cannot be used as a league's log: {reason}")]
    Unavailable { log: String, reason: String },
    #[error("{log} was written by {version} (log format {format}); use that version, or choose another --home")]
    OtherVersion { log: String, format: i64, version: String },
    /// The reader trusts no event after the damage and discards no event before it.
    #[error(
        "{log} is damaged: {damage}. Nothing was changed. Keep it as it is, with all files beside it, and put a good copy in \
         its place (`league verify` tells whether a copy is good), or begin anew with another --home"
    )]
    Damaged { log: String, damage: LogDamage },
    #[error("another process has written to the log: it ends at event {}, not at event {}", found.seq, after.seq)]
    Conflict { after: LogHead, found: LogHead },
    #[error("the log changed while it was read; try again")]
    Changed,
    /// The log has all of the events or none; opening it again shows which.
    #[error("the events could not be made durable: {reason}")]
    Failed { reason: String },
    #[error("the log takes nothing since a commit failed ({reason}); mend that and start the manager again")]
    Closed { reason: String },
    /// The events are not acknowledged. The manager must end: its log or its lock may belong to another process by now.
    #[error(transparent)]
    Gone(#[from] FileGone),
    #[error("too many appends wait; wait for the answer to one of them first")]
    Busy,
    /// The log was dropped, or its disk crashed, before the commit.
    #[error("the log ended before the events were made durable")]
    Ended,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LoadError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("the log cannot be replayed: {0}")]
    Replay(#[from] ReplayError),
}

pub fn replay(log: &dyn EventLog, mut observe: impl FnMut(Event)) -> Result<(Replay, LogHead), LoadError> {
    let mut replay = Replay::default();
    let head = scan(log, |_, event| {
        replay.apply(&event)?;
        observe(event);
        Ok::<_, LoadError>(())
    })?;
    Ok((replay, head))
}

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
        let _ = sender.send(answer);
        appending
    }

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
