//! Writes the histories of all players of a process, on one thread.
//!
//! A player says that its history has changed and plays on. The thread asks for the history shortly after and replaces its file. It does not sync:
//! what was written survives a killed process, and only a power cut can lose it. Files that are replaced slow down the manager, which syncs
//! its log to the same disk, so the changes of `BETWEEN` are one write for each player, and a process whose histories are large writes
//! `BYTES_PER_SECOND` and not more.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::history::HistoryFile;
use super::replace::{ReplaceSync as Synced, replace};

/// How long a history waits after its first change.
const AFTER: Duration = Duration::from_millis(250);
/// The shortest time between two rounds of writing. A match is in its player's file within a second.
const BETWEEN: Duration = Duration::from_millis(700);
/// How much is written in a second: the histories of some 150 players after 150 matches each. In larger processes they wait longer.
const BYTES_PER_SECOND: u32 = 8 * 1024 * 1024;

pub trait HistorySource: Send + Sync {
    /// The history as it is now, and the file that it belongs in. From here on the next change is a new one.
    fn history(&self) -> Option<(PathBuf, HistoryFile)>;

    /// The file could not be written.
    fn history_not_written(&self, error: &io::Error);
}

pub fn write_history(of: &dyn HistorySource) -> usize {
    let Some((path, file)) = of.history() else { return 0 };
    let text = file.text().map_err(io::Error::other);
    let written = text.and_then(|text| replace(&path, &text, Synced::Later).map(|()| text.len()));
    written.inspect_err(|error| of.history_not_written(error)).unwrap_or_default()
}

/// A handle to the thread, cheap to clone. The thread ends with the last handle, after it has written everything.
#[derive(Clone, Debug)]
pub struct HistoryWriter {
    alive: Arc<Alive>,
}

#[derive(Debug)]
struct Alive {
    desk: Arc<HistoryThread>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct HistoryThread {
    state: Mutex<State>,
    changed: Condvar,
    idle: Condvar,
}

#[derive(Default)]
struct State {
    /// Whose histories have changed, each once.
    due: Vec<Arc<dyn HistorySource>>,
    /// When the first of them did.
    since: Option<Instant>,
    busy: bool,
    /// Whether a caller waits until they are.
    hurry: bool,
    closed: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("due", &self.due.len()).finish_non_exhaustive()
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.desk.state().closed = true;
        self.desk.changed.notify_one();
        // A thread that panicked has said so itself.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl HistoryThread {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HistoryWriter {
    pub fn start() -> io::Result<Self> {
        let desk = Arc::new(HistoryThread::default());
        let working = Arc::clone(&desk);
        let thread = std::thread::Builder::new().name(String::from("league-history")).spawn(move || run(&working))?;
        Ok(Self { alive: Arc::new(Alive { desk, thread: Some(thread) }) })
    }

    /// The history of `of` has changed. Called once for each change that was asked for since: see [`HistorySource::history`].
    pub fn changed(&self, of: Arc<dyn HistorySource>) {
        let desk = &self.alive.desk;
        let mut state = desk.state();
        let first = state.due.is_empty();
        state.due.push(of);
        if first {
            state.since = Some(Instant::now());
            drop(state);
            desk.changed.notify_one();
        }
    }

    /// Waits until everything that has changed so far is written.
    pub fn flush(&self) {
        let desk = &self.alive.desk;
        let mut state = desk.state();
        state.hurry = true;
        desk.changed.notify_one();
        let waited = desk.idle.wait_while(state, |state| state.busy || !state.due.is_empty());
        waited.unwrap_or_else(PoisonError::into_inner).hurry = false;
    }
}

fn run(desk: &HistoryThread) {
    let mut next = Instant::now();
    loop {
        let state = desk.state();
        let waited = desk.changed.wait_while(state, |state| state.due.is_empty() && !state.closed);
        let state = waited.unwrap_or_else(PoisonError::into_inner);
        let begin = state.since.map_or(next, |since| next.max(since + AFTER));
        let pause = begin.saturating_duration_since(Instant::now());
        let waited = desk.changed.wait_timeout_while(state, pause, |state| !state.hurry && !state.closed);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let (due, over) = (std::mem::take(&mut state.due), state.closed);
        (state.busy, state.since) = (true, None);
        drop(state);
        let began = Instant::now();
        let bytes = due.iter().map(|of| write_history(of.as_ref())).sum::<usize>();
        let spread = f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / f64::from(BYTES_PER_SECOND);
        next = began + BETWEEN.max(Duration::from_secs_f64(spread));
        drop(due);
        desk.state().busy = false;
        desk.idle.notify_all();
        if over {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use league_core::session::History;
    use league_protocol::id::PlayerId;
    use league_protocol::time::Timestamp;

    use super::*;

    /// A player whose history can be counted.
    struct Stub {
        path: PathBuf,
        pending: AtomicBool,
        asked: AtomicUsize,
        failed: AtomicUsize,
    }

    impl Stub {
        fn at(path: &Path) -> Arc<Self> {
            let (pending, asked, failed) = Default::default();
            Arc::new(Self { path: path.to_owned(), pending, asked, failed })
        }

        fn change(self: &Arc<Self>, writer: &HistoryWriter) {
            if !self.pending.swap(true, Ordering::Relaxed) {
                writer.changed(Arc::clone(self) as Arc<dyn HistorySource>);
            }
        }
    }

    impl HistorySource for Stub {
        fn history(&self) -> Option<(PathBuf, HistoryFile)> {
            self.pending.store(false, Ordering::Relaxed);
            self.asked.fetch_add(1, Ordering::Relaxed);
            let file = HistoryFile::of(PlayerId::numbered(1), History::default(), Timestamp::EPOCH);
            Some((self.path.clone(), file))
        }

        fn history_not_written(&self, _: &io::Error) {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn many_changes_are_few_writes_and_the_last_one_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let player = Stub::at(&directory.path().join("P01/history.json"));
        let writer = HistoryWriter::start().unwrap();
        for _ in 0..10_000 {
            player.change(&writer);
        }
        writer.flush();
        assert!(player.path.exists());
        assert!(player.asked.load(Ordering::Relaxed) < 100);
        player.change(&writer);
        drop(writer);
        assert!(!player.pending.load(Ordering::Relaxed), "a writer that is dropped writes what is left");
    }

    #[test]
    fn a_history_that_cannot_be_written_is_told_to_its_player() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("taken"), b"").unwrap();
        let player = Stub::at(&directory.path().join("taken/history.json"));
        let writer = HistoryWriter::start().unwrap();
        player.change(&writer);
        writer.flush();
        assert_eq!(player.failed.load(Ordering::Relaxed), 1);
    }
}
