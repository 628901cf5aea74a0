//! The event log: what the manager accepted, durable before it is acknowledged.
//!
//! The order of the log is the order of the calls of [`EventLog::append`]. A batch is in the log wholly or not at all, and
//! its [`PendingAppend`] is answered only after the commit that holds it. Every event carries the hash of the one before
//! ([`chain`]), so a log that was edited, reordered or has a gap is noticed when it is read; that its end was cut off, or
//! all of it rewritten, shows only to somebody who has kept a [`LogHead`].
//!
//! - [`chain`]: the hashes
//! - [`sqlite`]: the log on disk; `schema`, `read`, `slices`, `writer` are its parts
//! - [`projection`]: the same as tables, for people with `sqlite3`
//! - [`memory`]: a log on a disk that a simulation can let crash

pub mod chain;
pub mod memory;
pub mod projection;
pub(crate) mod read;
pub(crate) mod schema;
mod slices;
pub mod sqlite;
mod writer;

use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};

use league_core::season::event::Event;
use thiserror::Error;
use tokio::sync::oneshot;

pub use chain::{Hash, LogDamage, LogHead};
pub use memory::{MemoryDisk, MemoryLog};
pub use sqlite::{CheckedLog, SqliteLog};

/// Batches that may wait for their commit at a time.
pub const MAX_WAITING: usize = 1024;

/// Where events go to last. SQLite here, other databases or a simulated disk elsewhere.
pub trait EventLog: Send + Sync {
    /// Takes these events, all or none, behind everything that was appended before. The place is taken now, not when the
    /// answer is awaited; an answer that nobody waits for does not undo the append.
    fn append(&self, events: Vec<Event>) -> PendingAppend;

    /// The last event that is known to be durable.
    fn head(&self) -> LogHead;
}

/// What to do about a log that is damaged. No event behind the damage is believed, and none before it is thrown away.
const WAY_OUT: &str = "Nothing was changed. Keep it as it is, with its -wal and -shm files, and put a good copy in its place \
     (`league verify` tells whether one is good), or begin anew with another --home";

/// Why events could not be kept, or not be read.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LogError {
    /// The file cannot be used at all.
    #[error("{path} cannot be opened as a league's log: {reason}")]
    Open { path: PathBuf, reason: String },
    /// It was written by a later version of this program.
    #[error(
        "{path} has schema version {found}, and this program knows versions up to {known}: it was written by a newer one. \
         Use that one, or another --home"
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("{path} is a database, but not a league's log; move it away, or use another --home")]
    Foreign { path: PathBuf },
    /// What was written is not what is there.
    #[error("{path} is damaged: {damage}. {WAY_OUT}")]
    Damaged { path: PathBuf, damage: LogDamage },
    /// The file itself is broken, so that nobody can say which of its events are lost.
    #[error("{path} is damaged: {reason}. {WAY_OUT}")]
    Broken { path: PathBuf, reason: String },
    /// The commit failed. Whether its events are there is seen when the log is opened again; they are all there or none is.
    #[error("the events could not be made durable: {reason}")]
    Failed { reason: String },
    /// An earlier commit failed. Nothing was written.
    #[error("the log takes nothing since a commit failed ({reason}); mend that and start the manager again")]
    Closed { reason: String },
    /// Too many batches wait for their commit. Nothing was written; wait for one of the answers first.
    #[error("{MAX_WAITING} batches wait to be made durable; wait for one of them first")]
    Full,
    /// The log was dropped, or its disk crashed, before the commit.
    #[error("the log ended before the events were made durable")]
    Ended,
}

/// The answer to an append: where the log stood after this batch.
#[derive(Debug)]
#[must_use = "events are durable only once this has been answered"]
pub struct PendingAppend(oneshot::Receiver<Result<LogHead, LogError>>);

impl PendingAppend {
    /// An answer to come, and what gives it.
    pub fn pending() -> (oneshot::Sender<Result<LogHead, LogError>>, Self) {
        let (sender, receiver) = oneshot::channel();
        (sender, Self(receiver))
    }

    /// An answer that is known already.
    pub fn answered(answer: Result<LogHead, LogError>) -> Self {
        let (sender, appending) = Self::pending();
        // The receiver is in our hands.
        let _ = sender.send(answer);
        appending
    }

    /// Waits for the answer on this thread: for plain threads only, an async task awaits it instead.
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
