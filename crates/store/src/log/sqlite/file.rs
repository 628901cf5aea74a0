//! Opens the file of a log: checks its format, and reads it on a read-only file system.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::super::{LogDamage, LogError};
use crate::file_identity::FileIdentity;
use crate::private;

/// The only log format that this program reads. Format 1, of league 0.1.0, had more tables, and rounds without pairings.
const FORMAT: i64 = 2;

const TABLE: &str = "CREATE TABLE events (seq INTEGER PRIMARY KEY, body TEXT NOT NULL, hash BLOB NOT NULL) STRICT";

pub(super) fn open(path: &Path) -> Result<Connection, LogError> {
    let failed = |error: rusqlite::Error| refused(path, &error);
    // SQLite would let every user of the machine read a new file. Those beside it get the rights of this one.
    let created = private::options().append(true).create(true).open(path);
    created.map_err(|error| unavailable(path, &error))?;
    let mut connection = Connection::open(path).map_err(failed)?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(failed)?;
    check_format(&connection, path)?;
    // FULL: a commit is on the disk before it returns, also in WAL mode. fullfsync: the same on macOS, where a plain
    // fsync stops at the drive's cache; other systems ignore it.
    let settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; \
                    PRAGMA checkpoint_fullfsync = ON;";
    connection.execute_batch(settings).map_err(failed)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Checked inside the transaction, because another process may create the log at the same time.
    if !check_format(&transaction, path)? {
        transaction.execute_batch(TABLE).map_err(failed)?;
        transaction.pragma_update(None, "user_version", FORMAT).map_err(failed)?;
    }
    transaction.commit().map_err(failed)?;
    Ok(connection)
}

/// The log and the files that SQLite keeps beside it as long as a connection is open.
pub(super) fn identities(path: &Path) -> Result<Vec<FileIdentity>, LogError> {
    let identity = |path: &Path| FileIdentity::of(path).map_err(|error| unavailable(path, &error));
    let beside = ["-wal", "-shm"].map(|ending| beside(path, ending)).into_iter().filter(|path| path.exists());
    [path.to_path_buf()].into_iter().chain(beside).map(|path| identity(&path)).collect()
}

/// Works while a manager appends. Returns `None` where nothing was written yet.
pub(super) fn open_to_read(path: &Path) -> Result<Option<Connection>, LogError> {
    if !path.exists() {
        return Ok(None);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let readable = |connection: Connection| {
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    };
    let opened = Connection::open_with_flags(path, flags).and_then(readable).or_else(|error| {
        // On a read-only file system SQLite cannot create the files that a WAL needs. Without a WAL no process writes.
        match beside(path, "-wal").exists() {
            true => Err(error),
            false => Connection::open_with_flags(immutable(path), flags).and_then(readable),
        }
    });
    let connection = opened.map_err(|error| refused(path, &error))?;
    Ok(check_format(&connection, path)?.then_some(connection))
}

/// Returns false for an empty file; fails when the file is no log or has another format.
fn check_format(connection: &Connection, path: &Path) -> Result<bool, LogError> {
    let ask = |question: &str| connection.query_row(question, [], |row| row.get::<_, i64>(0));
    let format = ask("PRAGMA user_version").map_err(|error| refused(path, &error))?;
    match format {
        FORMAT => Ok(true),
        0 if ask("SELECT count(*) FROM sqlite_schema").map_err(|error| refused(path, &error))? == 0 => Ok(false),
        0 => Err(unavailable(path, &"it is a database of another program; move it away, or use another --home")),
        _ => {
            let version = if format == 1 { "league 0.1.0" } else { "a newer version of league" }.to_owned();
            Err(LogError::OtherVersion { log: path.display().to_string(), format, version })
        }
    }
}

/// Finds what reading the events does not show: other tables, views, indexes, triggers and columns, an application's id,
/// and damaged pages.
pub(super) fn audit(connection: &Connection) -> rusqlite::Result<Result<(), LogDamage>> {
    let damage = |reason: String| Ok(Err(LogDamage::Storage { reason }));
    let mut schema = connection.prepare("SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY rowid")?;
    let entries = schema.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    for entry in entries {
        let (kind, name, sql): (String, String, String) = entry?;
        if (kind.as_str(), name.as_str()) != ("table", "events") {
            return damage(format!("it has the {kind} {name:?}, and a log has the table \"events\" only"));
        }
        if sql != TABLE {
            return damage(format!("the table \"events\" is defined as {sql:?}, not as {TABLE:?}"));
        }
    }
    let number = |pragma: &str| connection.query_row(pragma, [], |row| row.get::<_, i64>(0));
    match number("PRAGMA application_id")? {
        0 => {}
        other => return damage(format!("its application id is {other}, not 0")),
    }
    match connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))?.as_str() {
        "ok" => Ok(Ok(())),
        problem => damage(problem.to_owned()),
    }
}

pub(super) fn unavailable(path: &Path, reason: &dyn std::fmt::Display) -> LogError {
    LogError::Unavailable { log: path.display().to_string(), reason: reason.to_string() }
}

pub(super) fn refused(path: &Path, error: &rusqlite::Error) -> LogError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => LogError::Damaged {
            log: path.display().to_string(),
            damage: LogDamage::Storage { reason: error.to_string() },
        },
        Some(_) | None => unavailable(path, error),
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The file as a URI with `immutable=1`. On Windows a URI has `/` before the drive and between directories:
/// `file:/C:/league.db`.
fn immutable(path: &Path) -> String {
    let path = path.to_string_lossy();
    let has_drive = cfg!(windows) && path.as_bytes().get(1) == Some(&b':');
    let start = String::from(if has_drive { "/" } else { "" });
    let escaped = path.chars().fold(start, |mut uri, character| {
        match character {
            '%' => uri.push_str("%25"),
            '?' => uri.push_str("%3f"),
            '#' => uri.push_str("%23"),
            '\\' if cfg!(windows) => uri.push('/'),
            plain => uri.push(plain),
        }
        uri
    });
    format!("file:{escaped}?immutable=1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_with_any_name_can_be_read_where_nothing_can_be_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(if cfg!(windows) { "a#b c%64 e.db" } else { "a#b?c%64 e.db" });
        drop(open(&path).unwrap());
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(immutable(&path), flags).unwrap();
        assert_eq!(check_format(&connection, &path), Ok(true));
        assert!(!beside(&path, "-wal").exists());
    }

    #[test]
    fn reading_creates_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("league.db");
        assert!(open_to_read(&path).unwrap().is_none() && !path.exists());
        std::fs::write(&path, b"").unwrap();
        assert!(open_to_read(&path).unwrap().is_none());
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }
}
