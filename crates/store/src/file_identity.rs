//! Notices that a file was deleted or replaced while this process has it open.
//!
//! On Unix the process would write on into a file that no other process sees. Windows refuses to delete an open file, so
//! nothing is checked there.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileIdentity {
    path: PathBuf,
    number: FileNumber,
}

#[cfg(unix)]
type FileNumber = (u64, u64);
#[cfg(not(unix))]
type FileNumber = ();

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FileGone {
    #[error("{0} was deleted while the manager ran")]
    Deleted(PathBuf),
    #[error("{0} was replaced by another file while the manager ran")]
    Replaced(PathBuf),
}

impl FileIdentity {
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        Ok(Self::opened(path, &fs::metadata(path)?))
    }

    /// `about` is from the open file.
    pub(crate) fn opened(path: &Path, about: &Metadata) -> Self {
        Self { path: path.to_owned(), number: number(about) }
    }

    pub(crate) fn check(&self) -> Result<(), FileGone> {
        match fs::metadata(&self.path) {
            Ok(about) if number(&about) == self.number => Ok(()),
            Ok(_) => Err(FileGone::Replaced(self.path.clone())),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Err(FileGone::Deleted(self.path.clone()))
            }
            // The process may have no descriptor left, for example. The file itself is not known to be gone.
            Err(_) => Ok(()),
        }
    }
}

#[cfg(unix)]
fn number(about: &Metadata) -> FileNumber {
    use std::os::unix::fs::MetadataExt;
    (about.dev(), about.ino())
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> FileNumber {}
