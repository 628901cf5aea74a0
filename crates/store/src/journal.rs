//! JSON-lines logs, in the places of the profile.
//!
//! A journal never holds up a match. `write` puts the entry into a queue of bounded length and returns; one [`JournalWriter`] thread
//! writes for any number of journals, what a tenth of a second brings at once. When the queue is full, DEBUG lines go first; what was
//! dropped is counted, and the count is itself a line. Files are bounded too: at 10 MB `league.log.jsonl` becomes
//! `league.log.jsonl.1`, and so on to `.5`. A line's text is bounded by [`entry::MAX_MESSAGE`] and [`entry::MAX_DATA`].

pub mod entry;
mod file;
mod writer;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

pub use entry::{JournalEntry, JournalLevel};
pub use writer::{DroppedLines, JournalWriter};

/// How large logs grow, and what they hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JournalLimits {
    /// Bytes of a file before it is put aside.
    pub bytes: u64,
    pub files: u32,
    /// Entries that may wait to be written.
    pub waiting: usize,
    /// Lines below this level are not written.
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
    /// The journal at `path` with a writer of its own. Processes with many journals use [`JournalWriter::journal`] instead.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        Ok(JournalWriter::start(JournalLimits::default())?.journal(path))
    }

    /// Whether lines of `level` are written: asked before a line is made that would be dropped.
    pub fn writes(&self, level: JournalLevel) -> bool {
        self.writer.writes(level)
    }

    /// Has `entry` written, soon. Never waits.
    pub fn write(&self, entry: JournalEntry) {
        self.writer.take(&self.path, entry);
    }

    /// Waits until everything is written: for the end of a process, and for tests.
    pub fn flush(&self) {
        self.writer.flush();
    }

    /// What was dropped so far, of all journals of this writer.
    pub fn dropped(&self) -> DroppedLines {
        self.writer.dropped()
    }
}
