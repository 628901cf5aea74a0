//! JSON-lines logs: one line for each thing worth telling, in the places of the profile.
//!
//! A journal never holds up a match. `write` puts the entry into a queue of bounded length and returns; one [`Scribe`] thread
//! writes for any number of journals, what a tenth of a second brings at once. When the queue is full, DEBUG lines go first; what was
//! dropped is counted, and the count is itself a line. Files are bounded too: at 10 MB `league.log.jsonl` becomes
//! `league.log.jsonl.1`, and so on to `.5`. A line's text is bounded by [`entry::MAX_MESSAGE`] and [`entry::MAX_DATA`].

pub mod entry;
mod file;
mod scribe;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

pub use entry::{Entry, Level};
pub use scribe::{Dropped, Scribe};

/// How large logs grow, and what they hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JournalLimits {
    /// Bytes of a file before it is put aside.
    pub bytes: u64,
    /// Files that are kept aside.
    pub files: u32,
    /// Entries that may wait to be written.
    pub waiting: usize,
    /// Lines below this level are not written.
    pub level: Level,
}

impl Default for JournalLimits {
    fn default() -> Self {
        Self { bytes: 10 * 1024 * 1024, files: 5, waiting: 8192, level: Level::Debug }
    }
}

/// A log; cheap to clone.
#[derive(Clone, Debug)]
pub struct Journal {
    path: Arc<PathBuf>,
    scribe: Scribe,
}

impl Journal {
    /// The journal at `path` with a scribe of its own. Processes with many journals use [`Scribe::journal`] instead.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        Ok(Scribe::start(JournalLimits::default())?.journal(path))
    }

    /// Whether lines of `level` are written: asked before a line is made that would be dropped.
    pub fn writes(&self, level: Level) -> bool {
        self.scribe.writes(level)
    }

    /// Has `entry` written, soon. Never waits.
    pub fn write(&self, entry: Entry) {
        self.scribe.take(&self.path, entry);
    }

    /// Waits until everything is written: for the end of a process, and for tests.
    pub fn flush(&self) {
        self.scribe.flush();
    }

    /// What was dropped so far, of all journals of this scribe.
    pub fn dropped(&self) -> Dropped {
        self.scribe.dropped()
    }
}
