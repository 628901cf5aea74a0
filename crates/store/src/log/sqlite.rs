//! The log on disk: one SQLite file, one thread that writes to it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use league_core::season::event::Event;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::read::{Unread, read, read_some};
use super::slices::read_all;
use super::writer::{Batch, Writer};
use super::{EventLog, Hash, LogError, LogHead, MAX_WAITING, PendingAppend, projection, schema};

/// A league's events in a file. Dropping it waits until everything that was appended is answered.
pub struct SqliteLog {
    path: PathBuf,
    /// Taken out when the log ends: that is how the writer knows.
    queue: Option<SyncSender<Batch>>,
    head: Arc<Mutex<LogHead>>,
    writer: Option<JoinHandle<()>>,
}

impl fmt::Debug for SqliteLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("path", &self.path).field("head", &self.head()).finish_non_exhaustive()
    }
}

/// A log that was read through and is whole. Nothing of it has been changed, and nothing can be appended yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckedLog {
    path: PathBuf,
    head: LogHead,
}

impl CheckedLog {
    /// The last event; none has the number zero.
    pub fn head(&self) -> LogHead {
        self.head
    }

    /// Opens the log for appending, made where there is none. Its events are not read once more, so who opens it has held the
    /// [`Lock`](crate::lock::Lock) of the league since it was examined.
    pub fn open(self) -> Result<SqliteLog, LogError> {
        let Self { path, head } = self;
        let failed = |error: rusqlite::Error| schema::refused(&path, &error);
        let mut connection = schema::open(&path)?;
        let (seq, hash) = last_of(&connection).map_err(failed)?;
        if u64::try_from(seq) != Ok(head.seq) || *hash != head.hash.0 {
            return Err(LogError::Open { path, reason: String::from("it changed since it was read") });
        }
        let complete = projection::is_whole(&connection)
            .and_then(|tables| Ok(tables && (head.seq == 0 || projection::has_views(&connection)?)))
            .map_err(failed)?;
        if !complete {
            tracing::warn!(path = %path.display(), "tables of the log are gone; they are made again from the events");
            remake(&mut connection, &path)?;
        }
        let shared = Arc::new(Mutex::new(head));
        let (queue, batches) = sync_channel(MAX_WAITING);
        let writer = Writer::new(connection, head, Arc::clone(&shared));
        let writer = std::thread::Builder::new()
            .name(String::from("league-log"))
            .spawn(move || writer.run(&batches))
            .map_err(|error| LogError::Open { path: path.clone(), reason: error.to_string() })?;
        Ok(SqliteLog { path, queue: Some(queue), head: shared, writer: Some(writer) })
    }
}

/// The number and the hash of the last event.
fn last_of(connection: &Connection) -> rusqlite::Result<(i64, Vec<u8>)> {
    let last = "SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1";
    let last = connection.query_row(last, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(last.unwrap_or((0, Hash::GENESIS.0.to_vec())))
}

impl SqliteLog {
    /// Reads the log at `path` through, hands every event to `each` and changes nothing. Where there is no log yet, there are no
    /// events.
    pub fn examine(path: impl Into<PathBuf>, each: impl FnMut(Event)) -> Result<CheckedLog, LogError> {
        let path = path.into();
        if !path.exists() {
            return Ok(CheckedLog { path, head: LogHead::GENESIS });
        }
        // What is beside the events is looked at meanwhile.
        let head = std::thread::scope(|scope| {
            let pages = scope.spawn(|| schema::check_pages(&path));
            let head = read_all(&path, each)?;
            pages.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            Ok(head)
        })?;
        Ok(CheckedLog { path, head })
    }

    /// Opens the log at `path`, made where there is none, and gives everything that is in it. Who opens it holds the
    /// [`Lock`](crate::lock::Lock) of the league.
    pub fn open(path: impl Into<PathBuf>) -> Result<(Self, Vec<Event>), LogError> {
        let mut events = Vec::new();
        let examined = Self::examine(path, |event| events.push(event))?;
        Ok((examined.open()?, events))
    }

    /// Hands every event of the log at `path` to `each` and changes nothing, also while a manager writes to it.
    pub fn read(path: &Path, each: impl FnMut(Event)) -> Result<LogHead, LogError> {
        schema::open_to_read(path)?;
        read_all(path, each)
    }

    /// At most `limit` events behind event `after` in the log at `path`, each with its head; also while a manager writes to it.
    pub fn page(path: &Path, after: u64, limit: usize) -> Result<Vec<(LogHead, Event)>, LogError> {
        let connection = schema::open_to_read(path)?;
        read_some(&connection, after, limit).map_err(|unread| unreadable(path, unread))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the tables of the log at `path` again from its events. For a league that no manager is running.
    pub fn rebuild(path: &Path) -> Result<LogHead, LogError> {
        remake(&mut schema::open(path)?, path)
    }
}

/// Makes the tables again, all in one transaction.
fn remake(connection: &mut Connection, path: &Path) -> Result<LogHead, LogError> {
    let failed = |error: rusqlite::Error| schema::refused(path, &error);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    projection::drop_all(&transaction).and_then(|()| projection::create(&transaction)).map_err(failed)?;
    let mut projected = Ok(());
    let head = read(&transaction, |event, _| {
        if projected.is_ok() {
            projected = projection::apply(&transaction, &event);
        }
    });
    let head = head.map_err(|unread| unreadable(path, unread))?;
    projected.map_err(failed)?;
    transaction.commit().map_err(failed)?;
    Ok(head)
}

pub(crate) fn unreadable(path: &Path, unread: Unread) -> LogError {
    match unread {
        Unread::Damage(damage) => LogError::Damaged { path: path.to_path_buf(), damage },
        Unread::Sqlite(error) => schema::refused(path, &error),
    }
}

impl EventLog for SqliteLog {
    fn append(&self, events: Vec<Event>) -> PendingAppend {
        let Some(queue) = &self.queue else { return PendingAppend::answered(Err(LogError::Ended)) };
        let (reply, appending) = PendingAppend::pending();
        match queue.try_send(Batch { events, reply }) {
            Ok(()) => appending,
            Err(TrySendError::Full(_)) => PendingAppend::answered(Err(LogError::Full)),
            Err(TrySendError::Disconnected(_)) => PendingAppend::answered(Err(LogError::Ended)),
        }
    }

    fn head(&self) -> LogHead {
        // A head is copied in one piece: whoever panicked meanwhile cannot have left half of one.
        *self.head.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SqliteLog {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!(path = %self.path.display(), "the log's writer has panicked");
        }
    }
}
