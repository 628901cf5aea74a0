//! One manager per home and league.
//!
//! The operating system holds the lock on an open file, so the lock ends with the process. A leftover file means nothing;
//! its text only tells the operator which process holds the lock.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use league_protocol::time::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::checksum;
use crate::file_identity::FileIdentity;
use crate::private;

#[derive(Debug, Error)]
pub enum LockError {
    #[error("{path} is held by {holder}; stop that manager first, or use another --home or league")]
    Held { path: PathBuf, holder: Holder },
    #[error("{path} cannot be locked: {error}")]
    Io { path: PathBuf, error: io::Error },
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Holder {
    /// `None` when the holder has not written it yet.
    pub pid: Option<u32>,
    pub since: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.pid, self.since) {
            (Some(pid), Some(since)) => write!(f, "process {pid} since {since}")?,
            (Some(pid), None) => write!(f, "process {pid}")?,
            (None, _) => f.write_str("another process")?,
        }
        self.address.as_ref().map_or(Ok(()), |address| write!(f, ", at {address}"))
    }
}

#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
    holder: Holder,
}

impl Lock {
    /// Fails when another process holds the lock for longer than `league verify` does, which looks whether it is held.
    pub fn take(path: impl Into<PathBuf>, now: Timestamp) -> Result<Self, LockError> {
        let path = path.into();
        let mut taken = Self::try_take(&path, now);
        for pause in [1, 5, 20].map(Duration::from_millis) {
            if matches!(taken, Err(TryLockError::WouldBlock)) {
                std::thread::sleep(pause);
                taken = Self::try_take(&path, now);
            }
        }
        match taken {
            Ok((file, holder)) => Ok(Self { file, path, holder }),
            Err(TryLockError::WouldBlock) => Err(LockError::Held { holder: holder(&path), path }),
            Err(TryLockError::Error(error)) => Err(LockError::Io { path, error }),
        }
    }

    fn try_take(path: &Path, now: Timestamp) -> Result<(File, Holder), TryLockError> {
        let mut file = open_locked(path)?;
        let holder = Holder { pid: Some(std::process::id()), since: Some(now), address: None };
        write_holder(&mut file, &holder).map_err(TryLockError::Error)?;
        Ok((file, holder))
    }

    pub fn set_address(&mut self, address: impl Into<String>) -> Result<(), LockError> {
        self.holder.address = Some(address.into());
        write_holder(&mut self.file, &self.holder).map_err(|error| LockError::Io { path: self.path.clone(), error })
    }

    /// For the log, which checks before each commit that the lock is still this file.
    pub fn identity(&self) -> Result<FileIdentity, LockError> {
        let about = self.file.metadata().map_err(|error| LockError::Io { path: self.path.clone(), error })?;
        Ok(FileIdentity::opened(&self.path, &about))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether a manager holds the lock right now. Never blocks a manager for longer than [`Lock::take`] waits.
pub(crate) fn is_held(path: &Path) -> bool {
    match probe(path) {
        Ok(()) | Err(TryLockError::Error(_)) => false,
        Err(TryLockError::WouldBlock) => true,
    }
}

#[cfg(not(windows))]
fn probe(path: &Path) -> Result<(), TryLockError> {
    // Reading is enough for a shared lock, and works where nothing can be written.
    File::open(path).map_err(TryLockError::Error)?.try_lock_shared()
}

#[cfg(windows)]
fn probe(path: &Path) -> Result<(), TryLockError> {
    if path.exists() { open_locked(path).map(drop) } else { Ok(()) }
}

fn options() -> OpenOptions {
    private::options().read(true).write(true).create(true).truncate(false).to_owned()
}

#[cfg(not(windows))]
fn open_locked(path: &Path) -> Result<File, TryLockError> {
    let file = options().open(path).map_err(TryLockError::Error)?;
    file.try_lock()?;
    Ok(file)
}

/// On Windows other processes cannot read a locked file. So the file is opened without sharing it for writing: others can
/// read it, and only one process can open it this way.
#[cfg(windows)]
fn open_locked(path: &Path) -> Result<File, TryLockError> {
    use std::os::windows::fs::OpenOptionsExt;
    const SHARE_READ: u32 = 1;
    const SHARING_VIOLATION: i32 = 32;
    options().share_mode(SHARE_READ).open(path).map_err(|error| match error.raw_os_error() {
        Some(SHARING_VIOLATION) => TryLockError::WouldBlock,
        _ => TryLockError::Error(error),
    })
}

fn write_holder(file: &mut File, holder: &Holder) -> io::Result<()> {
    let text = checksum::add(serde_json::to_vec_pretty(holder)?);
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&text)?;
    file.flush()
}

/// Empty when the text cannot be read: the holder may be writing it right now.
fn holder(path: &Path) -> Holder {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(1024).read_to_string(&mut text));
    read.ok().and_then(|_| serde_json::from_str(&text).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_manager_is_refused_and_learns_the_holder() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("manager.lock");
        let mut first = Lock::take(&path, Timestamp::from_unix(1_736_937_000)).unwrap();
        let refused = Lock::take(&path, Timestamp::EPOCH).unwrap_err().to_string();
        let pid = std::process::id();
        assert!(refused.contains(&format!("process {pid} since 2025-01-15T10:30:00Z;")), "{refused}");
        first.set_address("http://127.0.0.1:8000/mcp").unwrap();
        let refused = Lock::take(&path, Timestamp::EPOCH).unwrap_err().to_string();
        assert!(refused.contains("10:30:00Z, at http://127.0.0.1:8000/mcp;"), "{refused}");
        drop(first);
        let again = Lock::take(&path, Timestamp::EPOCH).unwrap();
        assert_eq!(again.path(), path);
    }

    #[test]
    fn a_leftover_lock_file_does_not_block() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("manager.lock");
        std::fs::write(&path, b"{\"pid\": 1, \"since\": \"2025-01-15T10:30:00Z\", and much more that is not JSON")
            .unwrap();
        Lock::take(&path, Timestamp::EPOCH).unwrap();
        assert_eq!(holder(&path).pid, Some(std::process::id()));
    }

    #[test]
    fn an_error_about_a_lock_names_its_path() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("missing").join("manager.lock");
        let refused = Lock::take(&path, Timestamp::EPOCH).unwrap_err().to_string();
        assert!(refused.contains(&path.display().to_string()), "{refused}");
    }
}
