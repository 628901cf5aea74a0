//! The thread that writes the journals of a process, and its queue.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;

use super::file::LineFile;
use super::{Journal, JournalEntry, JournalLevel, JournalLimits};

const MAX_OPEN: usize = 256;

/// Lines are collected this long, because a wake-up and a write for each line would cost too much.
const COLLECTED: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct DroppedLines {
    pub debug: u64,
    pub others: u64,
}

impl DroppedLines {
    fn count(&mut self, level: JournalLevel) {
        match level {
            JournalLevel::Debug => self.debug += 1,
            JournalLevel::Info | JournalLevel::Warn | JournalLevel::Error => self.others += 1,
        }
    }
}

/// Writes any number of journals on one thread, which ends with the last handle.
#[derive(Clone, Debug)]
pub struct JournalWriter {
    shared: Arc<JournalThread>,
    /// Counts the handles; dropping the last one ends the thread.
    _alive: Arc<Alive>,
}

#[derive(Debug)]
struct JournalThread {
    limits: JournalLimits,
    queue: Mutex<LineQueue>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Debug, Default)]
struct LineQueue {
    entries: VecDeque<(Arc<PathBuf>, JournalEntry)>,
    debug: usize,
    dropped: DroppedLines,
    idle: bool,
    wanted: bool,
    /// Entries have left the queue and are not yet in their files.
    busy: bool,
    closed: bool,
}

#[derive(Debug)]
struct Alive {
    shared: Arc<JournalThread>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.shared.queue().closed = true;
        self.shared.filled.notify_one();
        // Waits for the last lines, which say why the process ends. A panic in the thread was already printed.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl JournalThread {
    fn queue(&self) -> MutexGuard<'_, LineQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JournalWriter {
    pub fn start(limits: JournalLimits) -> io::Result<Self> {
        let (filled, emptied) = (Condvar::new(), Condvar::new());
        let shared = Arc::new(JournalThread { limits, queue: Mutex::default(), filled, emptied });
        let writing = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name(String::from("league-journal")).spawn(move || run(&writing))?;
        Ok(Self { _alive: Arc::new(Alive { shared: Arc::clone(&shared), thread: Some(thread) }), shared })
    }

    pub fn journal(&self, path: impl Into<PathBuf>) -> Journal {
        Journal { path: Arc::new(path.into()), writer: self.clone() }
    }

    pub fn dropped(&self) -> DroppedLines {
        self.shared.queue().dropped
    }

    pub(super) fn writes(&self, level: JournalLevel) -> bool {
        level >= self.shared.limits.level
    }

    pub(super) fn take(&self, path: &Arc<PathBuf>, entry: JournalEntry) {
        if !self.writes(entry.level) {
            return;
        }
        let mut queue = self.shared.queue();
        if queue.entries.len() >= self.shared.limits.waiting && !queue.make_room(entry.level) {
            return;
        }
        queue.debug += usize::from(entry.level == JournalLevel::Debug);
        queue.entries.push_back((Arc::clone(path), entry));
        let half_full = queue.entries.len() == self.shared.limits.waiting / 2;
        queue.wanted |= half_full;
        let wake = std::mem::take(&mut queue.idle) || half_full;
        drop(queue);
        if wake {
            self.shared.filled.notify_one();
        }
    }

    pub fn flush(&self) {
        let mut queue = self.shared.queue();
        queue.wanted = true;
        self.shared.filled.notify_one();
        let waited = self.shared.emptied.wait_while(queue, |queue| queue.busy || !queue.entries.is_empty());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl LineQueue {
    /// Drops the oldest DEBUG line, if that makes room for a line of this level.
    fn make_room(&mut self, level: JournalLevel) -> bool {
        let debug = (level > JournalLevel::Debug && self.debug > 0)
            .then(|| self.entries.iter().position(|(_, entry)| entry.level == JournalLevel::Debug))
            .flatten();
        match debug {
            Some(place) => {
                self.entries.remove(place);
                self.debug -= 1;
                self.dropped.debug += 1;
                true
            }
            None => {
                self.dropped.count(level);
                false
            }
        }
    }
}

fn run(shared: &JournalThread) {
    let mut files = HashMap::new();
    let mut told = DroppedLines::default();
    loop {
        let mut queue = shared.queue();
        queue.idle = true;
        let waited = shared.filled.wait_while(queue, |queue| queue.entries.is_empty() && !queue.closed);
        let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
        queue.idle = false;
        let collected = shared.filled.wait_timeout_while(queue, COLLECTED, |queue| !queue.wanted && !queue.closed);
        let (mut queue, _) = collected.unwrap_or_else(PoisonError::into_inner);
        let entries = std::mem::take(&mut queue.entries);
        let dropped = queue.dropped;
        (queue.debug, queue.busy, queue.wanted) = (0, true, false);
        let over = entries.is_empty() && queue.closed;
        drop(queue);
        let lost = if over { DroppedLines::default() } else { write(shared, &mut files, entries, &mut told, dropped) };
        let mut queue = shared.queue();
        queue.dropped.debug += lost.debug;
        queue.dropped.others += lost.others;
        queue.busy = false;
        drop(queue);
        shared.emptied.notify_all();
        if over {
            return;
        }
    }
}

/// Adds a line about dropped lines to the first file. Returns the number of entries that could not be written.
fn write(
    shared: &JournalThread,
    files: &mut HashMap<Arc<PathBuf>, LineFile>,
    entries: VecDeque<(Arc<PathBuf>, JournalEntry)>,
    told: &mut DroppedLines,
    dropped: DroppedLines,
) -> DroppedLines {
    let mut lines: HashMap<Arc<PathBuf>, (Vec<u8>, DroppedLines)> = HashMap::new();
    let note =
        (dropped != *told).then(|| entries.front().map(|(path, entry)| (Arc::clone(path), omission(entry, dropped))));
    *told = dropped;
    for (path, entry) in note.flatten().into_iter().chain(entries) {
        let (text, count) = lines.entry(path).or_default();
        count.count(entry.level);
        let start = text.len();
        match serde_json::to_writer(&mut *text, &entry) {
            Ok(()) => text.push(b'\n'),
            Err(_) => text.truncate(start),
        }
    }
    let mut lost = DroppedLines::default();
    for (path, (text, count)) in lines {
        if let Err(error) = append(shared, files, &path, &text) {
            tracing::warn!(path = %path.display(), %error, "a log cannot be written");
            files.remove(&path);
            lost.debug += count.debug;
            lost.others += count.others;
        }
    }
    lost
}

fn append(
    shared: &JournalThread,
    files: &mut HashMap<Arc<PathBuf>, LineFile>,
    path: &Arc<PathBuf>,
    text: &[u8],
) -> io::Result<()> {
    if let Some(file) = files.get_mut(path) {
        return file.write(text);
    }
    // Opening a file again is cheaper than tracking which file is used least.
    if files.len() >= MAX_OPEN {
        files.clear();
    }
    let mut file = LineFile::open(path, shared.limits)?;
    file.write(text)?;
    files.insert(Arc::clone(path), file);
    Ok(())
}

fn omission(next: &JournalEntry, dropped: DroppedLines) -> JournalEntry {
    let message = format!("{} DEBUG lines and {} others were dropped since the start", dropped.debug, dropped.others);
    JournalEntry::new(next.timestamp, JournalLevel::Warn, &next.component, "LOG_LINES_DROPPED", message).with(&dropped)
}
