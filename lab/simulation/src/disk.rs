//! The manager's disk: it is slow, and after a crash it has only what was synced.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use league_core::season::event::Event;
use league_store::log::memory::SyncMode;
use league_store::log::{EventLog, LogError, LogHead, MemoryDisk, MemoryLog, PendingAppend};

use crate::rng::Rng;
use crate::shared_store::{Fence, SharedStore};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Honesty {
    /// It answers after the sync.
    #[default]
    Honest,
    /// Once the league is open it answers before it syncs. Shows that the checker notices.
    Lying,
}

#[derive(Clone, Debug)]
pub struct Disk {
    platter: MemoryDisk,
    rng: Arc<Mutex<Rng>>,
    longest: Duration,
    honesty: Honesty,
}

impl Disk {
    /// `longest` is the longest time of a sync.
    pub fn new(seed: u64, longest: Duration, honesty: Honesty) -> Self {
        let rng = Arc::new(Mutex::new(Rng::new(seed, &[4])));
        Self { platter: MemoryDisk::new(SyncMode::OnDemand), rng, longest, honesty }
    }

    pub fn open(&self) -> SlowLog {
        SlowLog { log: self.platter.open(), disk: self.clone() }
    }

    /// The same log behind a lease. `lost` is per thousand requests.
    pub fn shared(&self, seed: u64, fence: Fence, lost: u64) -> SharedStore {
        SharedStore::new(seed, self.platter.clone(), fence, lost, self.longest)
    }

    pub fn reader(&self) -> MemoryLog {
        self.platter.reader()
    }

    pub fn crash(&self) {
        self.platter.crash();
    }

    pub fn fail(&self) {
        self.platter.fail("no space left on device");
    }
}

/// One per start of the manager.
#[derive(Debug)]
pub struct SlowLog {
    log: MemoryLog,
    disk: Disk,
}

impl EventLog for SlowLog {
    fn append(&self, after: LogHead, events: Vec<Event>) -> PendingAppend {
        let most = u64::try_from(self.disk.longest.as_millis()).unwrap_or(1);
        let span = self.disk.rng.lock().unwrap_or_else(PoisonError::into_inner).millis(1, most);
        let (appending, platter) = (self.log.append(after, events), self.disk.platter.clone());
        let (appending, span) = match self.disk.honesty {
            Honesty::Lying if after.seq > 0 => (PendingAppend::answered(Ok(self.log.end())), span * 20),
            Honesty::Honest | Honesty::Lying => (appending, span),
        };
        tokio::spawn(async move {
            tokio::time::sleep(span).await;
            platter.sync();
        });
        appending
    }

    fn head(&self) -> Result<LogHead, LogError> {
        self.log.head()
    }

    fn read(&self, after: u64, limit: usize) -> Result<Vec<(LogHead, Event)>, LogError> {
        self.log.read(after, limit)
    }
}
