//! JSON-lines logs.
//!
//! A journal never delays a match: `write` puts the entry into a bounded queue and returns. One [`JournalWriter`] thread
//! writes for any number of journals. When the queue is full, DEBUG lines are dropped first, and a later line reports the
//! count. At 10 MB `league.log.jsonl` becomes `league.log.jsonl.1`, and so on to `.5`.

pub mod entry;
mod file;
mod writer;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

pub use entry::{JournalEntry, JournalLevel};
pub use writer::{DroppedLines, JournalWriter};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JournalLimits {
    /// Bytes of a file before it is rotated.
    pub bytes: u64,
    pub files: u32,
    pub waiting: usize,
    pub level: JournalLevel,
}

impl Default for JournalLimits {
    fn default() -> Self {
        Self { bytes: 10 * 1024 * 1024, files: 5, waiting: 8192, level: JournalLevel::Debug }
    }
}

#[derive(Clone, Debug)]
pub struct Journal {
    path: Arc<PathBuf>,
    writer: JournalWriter,
}

impl Journal {
    /// A journal with its own thread. Processes with many journals use [`JournalWriter::journal`] instead.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        Ok(JournalWriter::start(JournalLimits::default())?.journal(path))
    }

    /// Callers ask this before they build a line that would be dropped.
    pub fn writes(&self, level: JournalLevel) -> bool {
        self.writer.writes(level)
    }

    pub fn write(&self, entry: JournalEntry) {
        self.writer.take(&self.path, entry);
    }

    /// Waits until every line is written: for the end of a process, and for tests.
    pub fn flush(&self) {
        self.writer.flush();
    }

    pub fn dropped(&self) -> DroppedLines {
        self.writer.dropped()
    }
}
