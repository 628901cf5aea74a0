//! The log in a SQLite file: one table, one appending thread, any number of readers.
//!
//! The first append creates the file, so a reader never changes a home. After a failed commit the state of the disk is
//! unknown, so the thread refuses every later append. Opening the log again shows which events are durable.

mod file;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use league_core::season::event::Event;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use tokio::sync::oneshot;

use super::stored::{StoredEvent, diagnose};
use super::{EventLog, LogDamage, LogError, LogHead, PendingAppend};
use crate::file_identity::FileIdentity;

/// Appends that wait while another one is written.
const MAX_WAITING: usize = 1;
const MAX_READERS: usize = 8;
/// Room for this many events at most is made before they are read.
const MAX_RESERVED: usize = 2048;
const LAST: &str = "SELECT seq, body, hash FROM events ORDER BY seq DESC LIMIT 1";
const FROM: &str = "SELECT seq, body, hash FROM events WHERE seq >= ?1 ORDER BY seq LIMIT ?2";

/// Dropping the log waits for the answers to all appends.
pub struct SqliteLog {
    path: PathBuf,
    /// The lock of the manager, and the files of the log once they are open.
    guards: Vec<FileIdentity>,
    readers: Mutex<Vec<Connection>>,
    writer: Mutex<Option<Writer>>,
}

impl fmt::Debug for SqliteLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteLog").field("path", &self.path).finish_non_exhaustive()
    }
}

struct Writer {
    queue: SyncSender<Append>,
    thread: JoinHandle<()>,
}

struct Append {
    after: LogHead,
    events: Vec<Event>,
    reply: oneshot::Sender<Result<LogHead, LogError>>,
}

enum ReadError {
    Damage(LogDamage),
    Sqlite(rusqlite::Error),
}

impl From<LogDamage> for ReadError {
    fn from(damage: LogDamage) -> Self {
        Self::Damage(damage)
    }
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl SqliteLog {
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), guards: Vec::new(), readers: Mutex::default(), writer: Mutex::default() }
    }

    /// An append fails once the lock was deleted or replaced, because another manager may have the new one.
    #[must_use]
    pub fn guarded_by(mut self, lock: FileIdentity) -> Self {
        self.guards.push(lock);
        self
    }

    /// Returns `None` where nothing was written yet.
    fn reading<T>(&self, read: impl FnOnce(&Connection) -> Result<T, ReadError>) -> Result<Option<T>, LogError> {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => match file::open_to_read(&self.path)? {
                Some(connection) => connection,
                None => return Ok(None),
            },
        };
        let found = read(&connection).map_err(|error| match error {
            ReadError::Damage(damage) => LogError::Damaged { log: self.path.display().to_string(), damage },
            ReadError::Sqlite(error) => file::refused(&self.path, &error),
        })?;
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < MAX_READERS {
            readers.push(connection);
        }
        Ok(Some(found))
    }

    fn start_writer(&self) -> Result<Writer, LogError> {
        let (queue, appends) = sync_channel(MAX_WAITING);
        let (path, guards) = (self.path.clone(), self.guards.clone());
        let thread =
            std::thread::Builder::new().name(String::from("league-log")).spawn(move || write(&path, guards, &appends));
        let thread = thread.map_err(|error| file::unavailable(&self.path, &error))?;
        Ok(Writer { queue, thread })
    }
}

impl EventLog for SqliteLog {
    fn append(&self, after: LogHead, events: Vec<Event>) -> PendingAppend {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.is_none() {
            match self.start_writer() {
                Ok(started) => *writer = Some(started),
                Err(error) => return PendingAppend::answered(Err(error)),
            }
        }
        let (reply, appending) = PendingAppend::pending();
        match writer.as_ref().map(|writer| writer.queue.try_send(Append { after, events, reply })) {
            Some(Ok(())) => appending,
            Some(Err(TrySendError::Full(_))) => PendingAppend::answered(Err(LogError::Busy)),
            Some(Err(TrySendError::Disconnected(_))) | None => PendingAppend::answered(Err(LogError::Ended)),
        }
    }

    fn head(&self) -> Result<LogHead, LogError> {
        Ok(self.reading(last_of)?.unwrap_or_default())
    }

    fn read(&self, after: u64, limit: usize) -> Result<Vec<(LogHead, Event)>, LogError> {
        Ok(self.reading(|connection| read(connection, after, limit))?.unwrap_or_default())
    }

    /// The file holds the table of events and nothing else.
    fn audit(&self) -> Result<(), LogError> {
        self.reading(|connection| Ok(file::audit(connection)??)).map(Option::unwrap_or_default)
    }
}

impl Drop for SqliteLog {
    fn drop(&mut self) {
        let Some(Writer { queue, thread }) = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner).take()
        else {
            return;
        };
        drop(queue);
        if thread.join().is_err() {
            tracing::error!(path = %self.path.display(), "the log's writer has panicked");
        }
    }
}

/// Writes each append in its own transaction, until the log is dropped.
fn write(path: &Path, mut guards: Vec<FileIdentity>, appends: &Receiver<Append>) {
    let mut opened: Option<Connection> = None;
    let mut failed: Option<String> = None;
    for Append { after, events, reply } in appends {
        let answer = match (&failed, &mut opened) {
            (Some(reason), _) => Err(LogError::Closed { reason: reason.clone() }),
            (None, Some(connection)) => commit(connection, &guards, after, &events),
            (None, opened @ None) => file::open(path).and_then(|connection| {
                guards.extend(file::identities(path)?);
                commit(opened.insert(connection), &guards, after, &events)
            }),
        };
        if let Err(error @ (LogError::Failed { .. } | LogError::Gone(_))) = &answer {
            let reason = error.to_string();
            tracing::error!(%reason, "the league's log cannot be written to");
            (opened, failed) = (None, Some(reason));
        }
        let _ = reply.send(answer);
    }
}

/// Fails if a file was deleted or replaced: before the commit, so that nothing is written beside another manager, and
/// after it, so that nothing is acknowledged that no other process can read.
fn commit(
    connection: &mut Connection,
    guards: &[FileIdentity],
    after: LogHead,
    events: &[Event],
) -> Result<LogHead, LogError> {
    let failed = |reason: String| LogError::Failed { reason };
    let sqlite = |error: rusqlite::Error| failed(error.to_string());
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sqlite)?;
    guards.iter().try_for_each(FileIdentity::check)?;
    let found = last_of(&transaction).map_err(|error| match error {
        ReadError::Damage(damage) => failed(damage.to_string()),
        ReadError::Sqlite(error) => sqlite(error),
    })?;
    if found != after {
        return Err(LogError::Conflict { after, found });
    }
    let mut head = after;
    {
        let insert = "INSERT INTO events (seq, body, hash) VALUES (?1, ?2, ?3)";
        let mut insert = transaction.prepare_cached(insert).map_err(sqlite)?;
        for event in events {
            let body = serde_json::to_string(event).map_err(|error| failed(error.to_string()))?;
            head = head.then(&body);
            let seq = i64::try_from(head.seq).unwrap_or(i64::MAX);
            insert.execute(params![seq, body, head.hash.0]).map_err(sqlite)?;
        }
    }
    transaction.commit().map_err(sqlite)?;
    guards.iter().try_for_each(FileIdentity::check)?;
    Ok(head)
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredEvent> {
    let bytes = |column: usize| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_bytes().unwrap_or_default());
    let body = String::from_utf8_lossy(bytes(1)?).into_owned();
    Ok(StoredEvent { seq: row.get(0)?, body, hash: bytes(2)?.to_vec() })
}

fn last_of(connection: &Connection) -> Result<LogHead, ReadError> {
    let last = connection.prepare_cached(LAST)?.query_row([], stored).optional()?;
    Ok(last.map_or(Ok(LogHead::GENESIS), |last| last.head())?)
}

fn read(connection: &Connection, after: u64, limit: usize) -> Result<Vec<(LogHead, Event)>, ReadError> {
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    // The row before the first event is read for its hash. Rows with a number below 1 are damage, so they are read too.
    let (from, more) = if after == 0 { (i64::MIN, 0) } else { (number(after), 1) };
    let mut statement = connection.prepare_cached(FROM)?;
    let mut rows = statement.query(params![from, number(limit as u64).saturating_add(more)])?;
    let mut head = match after {
        0 => LogHead::GENESIS,
        _ => match rows.next()? {
            None => return Ok(Vec::new()),
            Some(row) => {
                let before = stored(row)?;
                if before.seq != number(after) {
                    return Err(LogDamage::Missing { seq: after, next: before.seq }.into());
                }
                before.head()?
            }
        },
    };
    let mut entries = Vec::with_capacity(limit.min(MAX_RESERVED));
    while let Some(row) = rows.next()? {
        let body = row.get_ref(1)?.as_str().unwrap_or_default();
        let next = head.then(body);
        if row.get::<_, i64>(0)? != number(next.seq) || row.get_ref(2)?.as_blob() != Ok(&next.hash.0) {
            let found = stored(row)?;
            let mut statement = connection.prepare(FROM)?;
            let later = statement.query_map(params![found.seq.saturating_add(1), i64::MAX], stored)?;
            return Err(diagnose(head, &found, later)?.into());
        }
        let event = serde_json::from_str(body);
        let event = event.map_err(|error| LogDamage::Unreadable { seq: next.seq, reason: error.to_string() })?;
        head = next;
        entries.push((head, event));
    }
    Ok(entries)
}
