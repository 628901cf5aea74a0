//! The event log: the events that the manager accepted, durable before they are acknowledged.
//!
//! [`EventLog`] is the one interface for reading and writing; the manager, every command, the pages and `verify` use it.
//! Each event carries the hash of the one before ([`chain`]), so a reader notices an edit, a reordering or a gap. Only a
//! reader that kept a [`LogHead`] notices a log that was cut off or rewritten as a whole.
//!
//! - [`sqlite`]: the log in a file
//! - [`postgres`]: the log in a database that several machines share
//! - [`election`], [`lease`]: which of several managers leads a league
//! - [`memory`]: the log on a simulated disk
//! - `scan`: reads a whole log on several threads; [`replay`] builds the season from it

pub mod chain;
pub mod election;
pub mod lease;
pub mod memory;
pub mod postgres;
mod scan;
pub mod sqlite;
mod stored;

use std::pin::Pin;
use std::task::{Context, Poll};

use league_core::replay::{Replay, ReplayError};
use league_core::season::Season;
use league_core::season::event::Event;
use thiserror::Error;
use tokio::sync::oneshot;

use crate::file_identity::FileGone;

pub use chain::{Hash, LogDamage, LogHead};
pub use memory::{MemoryDisk, MemoryLog};
pub use postgres::{HeldLease, MAX_LISTED_LEAGUES, PostgresLog, PostgresStore, StoreUrl, StoredDigests};
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

    /// Checks the storage itself, beyond the events in it. Blocks on the storage.
    fn audit(&self) -> Result<(), LogError> {
        Ok(())
    }

    /// Resolves when another manager has taken the lease of this log. A log without a lease never does.
    fn deposed(&self) -> Pin<Box<dyn Future<Output = LogError> + Send>> {
        Box::pin(std::future::pending())
    }
}

impl EventLog for Box<dyn EventLog> {
    fn append(&self, after: LogHead, events: Vec<Event>) -> PendingAppend {
        (**self).append(after, events)
    }

    fn head(&self) -> Result<LogHead, LogError> {
        (**self).head()
    }

    fn read(&self, after: u64, limit: usize) -> Result<Vec<(LogHead, Event)>, LogError> {
        (**self).read(after, limit)
    }

    fn audit(&self) -> Result<(), LogError> {
        (**self).audit()
    }

    fn deposed(&self) -> Pin<Box<dyn Future<Output = LogError> + Send>> {
        (**self).deposed()
    }
}

/// `log` names the log for people: a path or a URL.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LogError {
    #[error("{log} cannot be used as a league's log: {reason}")]
    Unavailable { log: String, reason: String },
    #[error(
        "{log} was written by {version} (log format {format}); use that version, or choose another --home or --store"
    )]
    OtherVersion { log: String, format: i64, version: String },
    /// The reader trusts no event after the damage and discards no event before it.
    #[error(
        "{log} is damaged: {damage}. Nothing was changed. Keep it as it is, with all files beside it, and put a good copy in \
         its place (`league verify` tells whether a copy is good), or begin anew with another --home"
    )]
    Damaged { log: String, damage: LogDamage },
    #[error("another process has written to the log: it ends at event {}, not at event {}", found.seq, after.seq)]
    Conflict { after: LogHead, found: LogHead },
    /// Another manager renews its lease.
    #[error("another manager leads {log}: {holder}. Stop it first, or wait until it has ended")]
    Led { log: String, holder: String },
    /// The manager must end: another one leads the league.
    #[error("another manager has taken over {log}; this one writes nothing more")]
    Deposed { log: String },
    /// A standby must end: the season that it followed is no longer that of the log.
    #[error(
        "the database went back to an earlier state of {log}: it was restored, or a replica took over; this standby stops, and \
         reads the whole log when it is started again"
    )]
    WentBack { log: String },
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

/// `observe` gets each event with the season after it.
pub fn replay(log: &dyn EventLog, mut observe: impl FnMut(&Season, Event)) -> Result<(Replay, LogHead), LoadError> {
    let mut replay = Replay::default();
    let head = scan(log, |_, event| {
        replay.apply(&event)?;
        if let Some(season) = replay.season() {
            observe(season, event);
        }
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
