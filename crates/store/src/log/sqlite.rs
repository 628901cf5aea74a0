//! The log on disk: one SQLite file, one thread that writes to it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use league_core::season::event::Event;
use rusqlite::{Connection, TransactionBehavior};

use super::read::{Unread, read, read_some};
use super::writer::{Batch, Writer};
use super::{Appending, EventLog, Head, LogError, MAX_WAITING, projection, schema};

/// A league's events in a file. Dropping it waits until everything that was appended is answered.
pub struct Log {
    path: PathBuf,
    /// Taken out when the log ends: that is how the writer knows.
    queue: Option<SyncSender<Batch>>,
    head: Arc<Mutex<Head>>,
    writer: Option<JoinHandle<()>>,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("path", &self.path).field("head", &self.head()).finish_non_exhaustive()
    }
}

impl Log {
    /// Opens the log at `path`, made where there is none, and reads what is in it. Who opens it holds the
    /// [`Lock`](crate::lock::Lock) of the league.
    pub fn open(path: impl Into<PathBuf>) -> Result<(Self, Vec<Event>), LogError> {
        let path = path.into();
        let mut connection = schema::open(&path)?;
        let mut events = Vec::new();
        let head = read(&connection, |event, _| events.push(event)).map_err(|unread| unreadable(&path, unread))?;
        schema::check_pages(&connection, &path)?;
        let complete = projection::is_whole(&connection)
            .and_then(|tables| Ok(tables && (events.is_empty() || projection::has_views(&connection)?)))
            .map_err(|error| schema::refused(&path, &error))?;
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
        Ok((Self { path, queue: Some(queue), head: shared, writer: Some(writer) }, events))
    }

    /// Reads the log at `path` and changes nothing, also while a manager writes to it.
    pub fn read(path: &Path) -> Result<Vec<Event>, LogError> {
        all_of(&schema::open_to_read(path)?, path)
    }

    /// The same; a file that nothing was written to yet holds no events.
    pub fn read_if_any(path: &Path) -> Result<Vec<Event>, LogError> {
        schema::open_if_any(path)?.map_or(Ok(Vec::new()), |connection| all_of(&connection, path))
    }

    /// At most `limit` events behind event `after` in the log at `path`, each with its head; also while a manager writes to it.
    pub fn page(path: &Path, after: u64, limit: usize) -> Result<Vec<(Head, Event)>, LogError> {
        let connection = schema::open_to_read(path)?;
        read_some(&connection, after, limit).map_err(|unread| unreadable(path, unread))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the tables of the log at `path` again from its events. For a league that no manager is running.
    pub fn rebuild(path: &Path) -> Result<Head, LogError> {
        remake(&mut schema::open(path)?, path)
    }
}

fn all_of(connection: &Connection, path: &Path) -> Result<Vec<Event>, LogError> {
    let mut events = Vec::new();
    read(connection, |event, _| events.push(event)).map_err(|unread| unreadable(path, unread))?;
    Ok(events)
}

/// Makes the tables again, all in one transaction.
fn remake(connection: &mut Connection, path: &Path) -> Result<Head, LogError> {
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

impl EventLog for Log {
    fn append(&self, events: Vec<Event>) -> Appending {
        let Some(queue) = &self.queue else { return Appending::answered(Err(LogError::Ended)) };
        let (reply, appending) = Appending::pending();
        match queue.try_send(Batch { events, reply }) {
            Ok(()) => appending,
            Err(TrySendError::Full(_)) => Appending::answered(Err(LogError::Full)),
            Err(TrySendError::Disconnected(_)) => Appending::answered(Err(LogError::Ended)),
        }
    }

    fn head(&self) -> Head {
        // A head is copied in one piece: whoever panicked meanwhile cannot have left half of one.
        *self.head.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!(path = %self.path.display(), "the log's writer has panicked");
        }
    }
}
