//! Writes the histories of all players of a process, on one thread.
//!
//! A player reports a change and plays on. The thread then asks for the history and replaces its file without a sync, so
//! only a power cut can lose it. Writing slows down the manager, which syncs its log to the same disk. So all changes
//! within `BETWEEN` are one write for each player, and the thread writes at most `BYTES_PER_SECOND`.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::history::HistoryFile;
use super::replace::{ReplaceSync, replace};

/// The delay after the first change of a history.
const AFTER: Duration = Duration::from_millis(250);
/// The shortest time between two rounds of writing. A match is in its player's file within a second.
const BETWEEN: Duration = Duration::from_millis(700);
/// Enough for 150 players with 150 matches each. In larger processes the files are later.
const BYTES_PER_SECOND: u32 = 8 * 1024 * 1024;

pub trait HistorySource: Send + Sync {
    /// After this call the player reports its next change again.
    fn history(&self) -> Option<(PathBuf, HistoryFile)>;

    fn history_not_written(&self, error: &io::Error);
}

pub fn write_history(of: &dyn HistorySource) -> usize {
    let Some((path, file)) = of.history() else { return 0 };
    let text = file.text().map_err(io::Error::other);
    let written = text.and_then(|text| replace(&path, &text, ReplaceSync::Later).map(|()| text.len()));
    written.inspect_err(|error| of.history_not_written(error)).unwrap_or_default()
}

enum Job {
    Changed(Arc<dyn HistorySource>),
    /// Dropped once all earlier jobs are written.
    Flush(SyncSender<()>),
}

/// The thread ends with the last handle, after it has written everything.
#[derive(Clone, Debug)]
pub struct HistoryWriter(Arc<Thread>);

#[derive(Debug)]
struct Thread {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Thread {
    fn drop(&mut self) {
        drop(self.jobs.take());
        // A panic in the thread was already printed.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl HistoryWriter {
    pub fn start() -> io::Result<Self> {
        let (jobs, queue) = channel();
        let thread = std::thread::Builder::new().name(String::from("league-history")).spawn(move || run(&queue))?;
        Ok(Self(Arc::new(Thread { jobs: Some(jobs), thread: Some(thread) })))
    }

    /// A player reports a change once until the thread asks for its history, which bounds the queue.
    pub fn changed(&self, of: Arc<dyn HistorySource>) {
        self.send(Job::Changed(of));
    }

    pub fn flush(&self) {
        let (done, wait) = sync_channel(0);
        self.send(Job::Flush(done));
        let _ = wait.recv();
    }

    fn send(&self, job: Job) {
        // The thread outlives every handle, so sending cannot fail.
        let _ = self.0.jobs.as_ref().map(|jobs| jobs.send(job));
    }
}

fn run(queue: &Receiver<Job>) {
    let mut next = Instant::now();
    while let Ok(first) = queue.recv() {
        let begin = next.max(Instant::now() + AFTER);
        let (mut due, mut job, mut flushed) = (Vec::new(), Some(first), None);
        while let Some(received) = job.take() {
            match received {
                Job::Changed(of) => {
                    due.push(of);
                    job = queue.recv_timeout(begin.saturating_duration_since(Instant::now())).ok();
                }
                Job::Flush(done) => flushed = Some(done),
            }
        }
        let began = Instant::now();
        let bytes = due.iter().map(|of| write_history(of.as_ref())).sum::<usize>();
        let spread = f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / f64::from(BYTES_PER_SECOND);
        next = began + BETWEEN.max(Duration::from_secs_f64(spread));
        drop(flushed);
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
    fn many_changes_need_few_writes_and_the_last_is_written() {
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
    fn a_player_learns_that_its_history_cannot_be_written() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("taken"), b"").unwrap();
        let player = Stub::at(&directory.path().join("taken/history.json"));
        let writer = HistoryWriter::start().unwrap();
        player.change(&writer);
        writer.flush();
        assert_eq!(player.failed.load(Ordering::Relaxed), 1);
    }
}
