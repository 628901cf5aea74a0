//! Reads the receipts in the match files, and removes each file after reading: a million calls would fill a disk.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{fmt, fs, io};

use league_store::views::match_file::{Direction, MatchFile};

const PAUSE: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Spread {
    pub(crate) count: u64,
    pub(crate) median: u64,
    pub(crate) p99: u64,
    pub(crate) max: u64,
}

impl Spread {
    pub(crate) fn of(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        let last = values.len().saturating_sub(1);
        let at = |percent: usize| values.get((values.len() * percent / 100).min(last)).copied().unwrap_or_default();
        Self { count: values.len() as u64, median: at(50), p99: at(99), max: at(100) }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms at p50, {} ms at p99, {} ms at most", self.median, self.p99, self.max)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Receipts(Mutex<Counts>);

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) files: u64,
    pub(crate) answered: u64,
    pub(crate) broken: u64,
    /// For each timeout: how late it was noticed, and how much of that the referee granted because it was late itself.
    pub(crate) timeouts: Vec<(u64, u64)>,
    pub(crate) grants: Vec<u64>,
}

impl Receipts {
    pub(crate) fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn lateness(&self) -> Spread {
        Spread::of(self.counts().timeouts.iter().map(|(late, granted)| late.saturating_sub(*granted)).collect())
    }

    fn record(&self, file: &MatchFile) {
        let mut counts = self.counts();
        counts.files += 1;
        for entry in &file.transcript {
            let Some(receipt) = entry.receipt else { continue };
            counts.grants.extend(receipt.granted_ms);
            match (entry.direction, receipt.given_up_ms) {
                // An error notice is not a call of the game.
                _ if entry.message_type.starts_with("GAME_ERROR") => {}
                (Direction::Received, _) => counts.answered += 1,
                (Direction::Sent, Some(given_up)) if given_up >= receipt.limit_ms => {
                    counts.timeouts.push((given_up - receipt.limit_ms, receipt.granted_ms.unwrap_or_default()));
                }
                (Direction::Sent, _) => counts.broken += 1,
            }
        }
    }
}

pub(crate) struct Sweeper {
    work: JoinHandle<()>,
    end: Sender<()>,
}

impl Sweeper {
    pub(crate) fn start(directory: PathBuf, receipts: Arc<Receipts>) -> io::Result<Self> {
        let (end, ended) = channel();
        let work = thread::Builder::new().name("sweeper".into()).spawn(move || sweep(&directory, &receipts, &ended))?;
        Ok(Self { work, end })
    }

    /// Reads the remaining files first.
    pub(crate) fn finish(self) {
        drop(self.end);
        drop(self.work.join());
    }
}

fn sweep(directory: &Path, receipts: &Receipts, ended: &Receiver<()>) {
    loop {
        let last = ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Disconnected);
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            // A file whose name begins with a dot is being written.
            let path = entry.path();
            let is_whole = !entry.file_name().as_encoded_bytes().starts_with(b".");
            if is_whole && path.extension().is_some_and(|kind| kind == "json") {
                match fs::read(&path).map(|text| serde_json::from_slice(&text)) {
                    Ok(Ok(file)) => receipts.record(&file),
                    Ok(Err(error)) => eprintln!("{} cannot be read: {error}", path.display()),
                    Err(_) => continue,
                }
                drop(fs::remove_file(&path));
            }
        }
        if last {
            return;
        }
    }
}
