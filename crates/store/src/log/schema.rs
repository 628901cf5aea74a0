//! The database's own version, and how an older one becomes the current one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::{LogError, projection};

/// One step for each version: from an empty database to 1, from 1 to 2, …. A released step is never changed again.
const MIGRATIONS: [fn(&Transaction<'_>) -> rusqlite::Result<()>; 1] = [create];

/// The version that this program writes.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

fn create(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "CREATE TABLE events (
             seq  INTEGER PRIMARY KEY,
             at   TEXT NOT NULL,
             kind TEXT NOT NULL,
             body TEXT NOT NULL,
             hash BLOB NOT NULL
         ) STRICT;",
    )?;
    projection::create(transaction)
}

/// Opens the log at `path` for writing, made or migrated as far as needed.
pub(crate) fn open(path: &Path) -> Result<Connection, LogError> {
    let failed = |error: rusqlite::Error| refused(path, &error);
    let mut connection = Connection::open(path).map_err(failed)?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(failed)?;
    check_version(&connection, path)?;
    // FULL: a commit is on the disk before it returns, also in WAL mode. fullfsync: the same on macOS, where a plain fsync stops at
    // the drive's cache; elsewhere it means nothing.
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;",
        )
        .map_err(failed)?;
    migrate(&mut connection, path)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Opens the log at `path` to look at it, also while a manager writes.
pub(crate) fn open_to_read(path: &Path) -> Result<Connection, LogError> {
    open_if_any(path)?.ok_or_else(|| empty(path))
}

/// A file that was made and never written to.
fn empty(path: &Path) -> LogError {
    LogError::Open { path: path.to_path_buf(), reason: String::from("it is empty") }
}

/// The same; nothing when nothing was written to it yet.
pub(crate) fn open_if_any(path: &Path) -> Result<Option<Connection>, LogError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let readable = |connection: Connection| {
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    };
    let opened = Connection::open_with_flags(path, flags).and_then(readable);
    let connection = match opened {
        Ok(connection) => connection,
        // On a read-only file system SQLite cannot make the files that a WAL needs. Without a WAL there is nothing to share, and
        // nobody who could write.
        Err(_) if !wal_of(path).exists() => Connection::open_with_flags(immutable(path), flags)
            .and_then(readable)
            .map_err(|error| refused(path, &error))?,
        Err(error) => return Err(refused(path, &error)),
    };
    Ok((check_version(&connection, path)? > 0).then_some(connection))
}

/// The version of the database; refused when it is not one that we can work with.
fn check_version(connection: &Connection, path: &Path) -> Result<i64, LogError> {
    let ask = |question: &str| connection.query_row(question, [], |row| row.get::<_, i64>(0));
    let version = ask("PRAGMA user_version").map_err(|error| refused(path, &error))?;
    if version > VERSION {
        return Err(LogError::Newer { path: path.to_path_buf(), found: version, known: VERSION });
    }
    let tables = ask("SELECT count(*) FROM sqlite_schema").map_err(|error| refused(path, &error))?;
    if version < 0 || (version == 0 && tables > 0) {
        return Err(LogError::Foreign { path: path.to_path_buf() });
    }
    Ok(version)
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), LogError> {
    let failed = |error: rusqlite::Error| refused(path, &error);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Asked again inside the transaction: somebody else may have migrated meanwhile.
    let found = check_version(&transaction, path)?;
    if found == VERSION {
        return Ok(());
    }
    for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        migration(&transaction).map_err(failed)?;
    }
    transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
    transaction.commit().map_err(failed)
}

pub(crate) fn refused(path: &Path, error: &rusqlite::Error) -> LogError {
    let (path, reason) = (path.to_path_buf(), error.to_string());
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => LogError::Broken { path, reason },
        Some(_) | None => LogError::Open { path, reason },
    }
}

/// Whether everything but the events holds together as a database: a page that nobody has read yet may be damaged all the same. The pages
/// of the events are read anyway.
pub(crate) fn check_pages(path: &Path) -> Result<(), LogError> {
    let failed = |error: rusqlite::Error| refused(path, &error);
    let Some(connection) = open_if_any(path)? else { return Ok(()) };
    let mut tables = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'events'")
        .map_err(failed)?;
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
    for table in tables {
        let mut found = Ok(());
        let note = |row: &rusqlite::Row<'_>| {
            let reason: String = row.get(0)?;
            if reason != "ok" && found.is_ok() {
                let reason = reason.replace('\n', " ");
                found = Err(LogError::Broken { path: path.to_path_buf(), reason });
            }
            Ok(())
        };
        connection.pragma(None, "quick_check", table.map_err(failed)?, note).map_err(failed)?;
        found?;
    }
    Ok(())
}

fn wal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

/// The file as a URI that promises that nobody changes it. What means something in a URI is escaped. In a URI of Windows `/` comes before
/// the drive and separates directories: `file:/C:/league.db`.
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
    fn a_log_can_be_read_where_nothing_can_be_written_whatever_its_name() {
        let directory = tempfile::tempdir().unwrap();
        // Windows takes no `?` in a name.
        let path = directory.path().join(if cfg!(windows) { "a#b c%64 e.db" } else { "a#b?c%64 e.db" });
        drop(open(&path).unwrap());
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(immutable(&path), flags).unwrap();
        assert_eq!(check_version(&connection, &path), Ok(VERSION));
        assert!(!wal_of(&path).exists());
    }

    #[test]
    fn nothing_is_made_where_only_reading_was_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("league.db");
        assert!(matches!(open_to_read(&path), Err(LogError::Open { .. })));
        std::fs::write(&path, b"").unwrap();
        assert!(matches!(open_to_read(&path), Err(LogError::Open { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }
}
