//! The manager's disk: it takes its time, and a crash leaves what it had synced and nothing else.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use league_core::season::event::Event;
use league_store::log::memory::SyncMode;
use league_store::log::{EventLog, LogHead, MemoryDisk, MemoryLog, PendingAppend};

use crate::rng::Rng;

/// Whether the disk keeps its word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Honesty {
    /// It answers when it has synced.
    #[default]
    Honest,
    /// Once the league is open it answers at once, and syncs later: here to show that the judge notices.
    Lying,
}

#[derive(Clone, Debug)]
pub struct Disk {
    platter: MemoryDisk,
    dice: Arc<Mutex<Rng>>,
    longest: Duration,
    honesty: Honesty,
}

impl Disk {
    /// An empty disk that needs at most `longest` for a sync.
    pub fn new(seed: u64, longest: Duration, honesty: Honesty) -> Self {
        let dice = Arc::new(Mutex::new(Rng::new(seed, &[4])));
        Self { platter: MemoryDisk::new(SyncMode::OnDemand), dice, longest, honesty }
    }

    /// Opens the log, with everything that is durable.
    pub fn open(&self) -> (SlowLog, Vec<Event>) {
        let (log, events) = self.platter.open();
        (SlowLog { log, disk: self.clone() }, events)
    }

    /// What was made durable after so many events, and where the log stands.
    pub fn since(&self, known: usize) -> (Vec<Event>, LogHead) {
        self.platter.since(known)
    }

    pub fn crash(&self) {
        self.platter.crash();
    }

    /// Nothing can be written from now on.
    pub fn fail(&self) {
        self.platter.fail("no space left on device");
    }
}

/// The log of one life of the manager.
#[derive(Debug)]
pub struct SlowLog {
    log: MemoryLog,
    disk: Disk,
}

impl EventLog for SlowLog {
    fn append(&self, events: Vec<Event>) -> PendingAppend {
        let most = u64::try_from(self.disk.longest.as_millis()).unwrap_or(1);
        let span = self.disk.dice.lock().unwrap_or_else(PoisonError::into_inner).millis(1, most);
        let (appending, platter) = (self.log.append(events), self.disk.platter.clone());
        let (appending, span) = match self.disk.honesty {
            Honesty::Lying if self.head().seq > 0 => (PendingAppend::answered(Ok(self.head())), span * 20),
            Honesty::Honest | Honesty::Lying => (appending, span),
        };
        tokio::spawn(async move {
            tokio::time::sleep(span).await;
            platter.sync();
        });
        appending
    }

    fn head(&self) -> LogHead {
        self.log.head()
    }
}
