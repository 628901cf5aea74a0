//! The thread behind the journals of a process, and the queue before it.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;

use super::file::LineFile;
use super::{Journal, JournalEntry, JournalLevel, JournalLimits};

/// Files that are kept open at a time.
const MAX_OPEN: usize = 256;

/// How long lines are collected before they are written: a wake-up and a write for each would cost more than what they tell of.
const COLLECTED: Duration = Duration::from_millis(100);

/// What was dropped because the disk could not keep up, or did not work.
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

/// Writes any number of journals on one thread, which ends with the last of them.
#[derive(Clone, Debug)]
pub struct JournalWriter {
    desk: Arc<JournalThread>,
    /// Only the handles of journals count: when the last is gone, nobody will write any more.
    _alive: Arc<Alive>,
}

#[derive(Debug)]
struct JournalThread {
    limits: JournalLimits,
    tray: Mutex<LineQueue>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Debug, Default)]
struct LineQueue {
    entries: VecDeque<(Arc<PathBuf>, JournalEntry)>,
    debug: usize,
    dropped: DroppedLines,
    /// Whether the thread sleeps until there is an entry.
    idle: bool,
    /// Whether somebody waits for what is in the tray.
    wanted: bool,
    /// Whether entries are out of the tray and not yet in their files.
    busy: bool,
    closed: bool,
}

#[derive(Debug)]
struct Alive {
    desk: Arc<JournalThread>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.desk.tray().closed = true;
        self.desk.filled.notify_one();
        // Whoever lets go of its last journal is about to end, and the last lines tell how. A thread that fell over has said so itself.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl JournalThread {
    fn tray(&self) -> MutexGuard<'_, LineQueue> {
        self.tray.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JournalWriter {
    pub fn start(limits: JournalLimits) -> io::Result<Self> {
        let (filled, emptied) = (Condvar::new(), Condvar::new());
        let desk = Arc::new(JournalThread { limits, tray: Mutex::default(), filled, emptied });
        let writing = Arc::clone(&desk);
        let thread = std::thread::Builder::new().name(String::from("league-journal")).spawn(move || run(&writing))?;
        Ok(Self { _alive: Arc::new(Alive { desk: Arc::clone(&desk), thread: Some(thread) }), desk })
    }

    /// The journal at `path`. Its file is opened with the first line.
    pub fn journal(&self, path: impl Into<PathBuf>) -> Journal {
        Journal { path: Arc::new(path.into()), scribe: self.clone() }
    }

    pub fn dropped(&self) -> DroppedLines {
        self.desk.tray().dropped
    }

    pub(super) fn writes(&self, level: JournalLevel) -> bool {
        level >= self.desk.limits.level
    }

    pub(super) fn take(&self, path: &Arc<PathBuf>, entry: JournalEntry) {
        if !self.writes(entry.level) {
            return;
        }
        let mut tray = self.desk.tray();
        if tray.entries.len() >= self.desk.limits.waiting && !tray.make_room(entry.level) {
            return;
        }
        tray.debug += usize::from(entry.level == JournalLevel::Debug);
        tray.entries.push_back((Arc::clone(path), entry));
        let half_full = tray.entries.len() == self.desk.limits.waiting / 2;
        tray.wanted |= half_full;
        let wake = std::mem::take(&mut tray.idle) || half_full;
        drop(tray);
        if wake {
            self.desk.filled.notify_one();
        }
    }

    pub fn flush(&self) {
        let mut tray = self.desk.tray();
        tray.wanted = true;
        self.desk.filled.notify_one();
        let waited = self.desk.emptied.wait_while(tray, |tray| tray.busy || !tray.entries.is_empty());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl LineQueue {
    /// Whether there is room for a line of this level, once the oldest DEBUG line has gone for it.
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

/// Writes until nobody is left who could want anything written.
fn run(desk: &JournalThread) {
    let mut files = HashMap::new();
    let mut told = DroppedLines::default();
    loop {
        let mut tray = desk.tray();
        tray.idle = true;
        let waited = desk.filled.wait_while(tray, |tray| tray.entries.is_empty() && !tray.closed);
        let mut tray = waited.unwrap_or_else(PoisonError::into_inner);
        tray.idle = false;
        let collected = desk.filled.wait_timeout_while(tray, COLLECTED, |tray| !tray.wanted && !tray.closed);
        let (mut tray, _) = collected.unwrap_or_else(PoisonError::into_inner);
        let entries = std::mem::take(&mut tray.entries);
        let dropped = tray.dropped;
        (tray.debug, tray.busy, tray.wanted) = (0, true, false);
        let over = entries.is_empty() && tray.closed;
        drop(tray);
        let lost = if over { DroppedLines::default() } else { write(desk, &mut files, entries, &mut told, dropped) };
        let mut tray = desk.tray();
        tray.dropped.debug += lost.debug;
        tray.dropped.others += lost.others;
        tray.busy = false;
        drop(tray);
        desk.emptied.notify_all();
        if over {
            return;
        }
    }
}

/// Writes `entries` to their files, and to the first of these how many never came so far. Gives what could not be written.
fn write(
    desk: &JournalThread,
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
        if let Err(error) = append(desk, files, &path, &text) {
            tracing::warn!(path = %path.display(), %error, "a log cannot be written");
            files.remove(&path);
            lost.debug += count.debug;
            lost.others += count.others;
        }
    }
    lost
}

fn append(
    desk: &JournalThread,
    files: &mut HashMap<Arc<PathBuf>, LineFile>,
    path: &Arc<PathBuf>,
    text: &[u8],
) -> io::Result<()> {
    if let Some(file) = files.get_mut(path) {
        return file.write(text);
    }
    // Opening a file again is cheaper than knowing which one will not be needed.
    if files.len() >= MAX_OPEN {
        files.clear();
    }
    let mut file = LineFile::open(path, desk.limits)?;
    file.write(text)?;
    files.insert(Arc::clone(path), file);
    Ok(())
}

/// The line that says how many lines are missing.
fn omission(next: &JournalEntry, dropped: DroppedLines) -> JournalEntry {
    let message = format!("{} DEBUG lines and {} others were dropped since the start", dropped.debug, dropped.others);
    JournalEntry::new(next.timestamp, JournalLevel::Warn, &next.component, "LOG_LINES_DROPPED", message).with(&dropped)
}
