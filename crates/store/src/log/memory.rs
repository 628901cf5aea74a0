//! A log on a disk that is ours: a simulation decides when it syncs, when it fails and when it crashes.
//!
//! It keeps the promise of the real one: what was acknowledged survives a crash, what was not may be gone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use league_core::season::event::Event;
use tokio::sync::oneshot;

use super::{EventLog, LogError, LogHead, MAX_WAITING, PendingAppend};

/// When a disk of memory makes durable what it was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SyncMode {
    #[default]
    AtOnce,
    /// When [`MemoryDisk::sync`] is called.
    OnDemand,
}

/// The disk. It outlives the logs that are opened on it.
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk(Arc<Mutex<DiskState>>);

#[derive(Debug, Default)]
struct DiskState {
    sync: SyncMode,
    durable: Vec<Event>,
    head: LogHead,
    waiting: Vec<Waiting>,
    failed: Option<String>,
    /// Logs of earlier lives are refused.
    life: u64,
}

#[derive(Debug)]
struct Waiting {
    events: Vec<Event>,
    reply: oneshot::Sender<Result<LogHead, LogError>>,
}

impl MemoryDisk {
    pub fn new(sync: SyncMode) -> Self {
        Self(Arc::new(Mutex::new(DiskState { sync, ..DiskState::default() })))
    }

    /// Opens the log, with everything that is durable. A log that was open before is refused from now on.
    pub fn open(&self) -> (MemoryLog, Vec<Event>) {
        let mut platter = self.platter();
        platter.end();
        (MemoryLog { disk: self.clone(), life: platter.life }, platter.durable.clone())
    }

    /// Makes everything that waits durable, and answers it.
    pub fn sync(&self) {
        self.platter().commit();
    }

    /// What was made durable after the first `known` events, and where the log stands. Disturbs nobody.
    pub fn since(&self, known: usize) -> (Vec<Event>, LogHead) {
        let platter = self.platter();
        (platter.durable.get(known..).unwrap_or_default().to_vec(), platter.head)
    }

    /// The power goes: what waits is lost, and every log that is open now is dead.
    pub fn crash(&self) {
        self.platter().end();
    }

    /// The next commit fails for this `reason`, and the log refuses everything until it is opened again.
    pub fn fail(&self, reason: &str) {
        let mut platter = self.platter();
        platter.failed = Some(reason.to_owned());
        for waiting in std::mem::take(&mut platter.waiting) {
            let _ = waiting.reply.send(Err(LogError::Failed { reason: reason.to_owned() }));
        }
    }

    fn platter(&self) -> MutexGuard<'_, DiskState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DiskState {
    fn commit(&mut self) {
        for Waiting { events, reply } in std::mem::take(&mut self.waiting) {
            for event in events {
                let body = match serde_json::to_string(&event) {
                    Ok(body) => body,
                    Err(error) => {
                        self.failed = Some(error.to_string());
                        break;
                    }
                };
                self.head = self.head.then(&body);
                self.durable.push(event);
            }
            let answer = match &self.failed {
                None => Ok(self.head),
                Some(reason) => Err(LogError::Failed { reason: reason.clone() }),
            };
            let _ = reply.send(answer);
        }
    }

    fn end(&mut self) {
        self.life += 1;
        self.failed = None;
        // Dropping what waits answers it: the log has ended.
        self.waiting.clear();
    }
}

/// A log on a [`MemoryDisk`].
#[derive(Debug)]
pub struct MemoryLog {
    disk: MemoryDisk,
    life: u64,
}

impl EventLog for MemoryLog {
    fn append(&self, events: Vec<Event>) -> PendingAppend {
        let mut platter = self.disk.platter();
        if platter.life != self.life {
            return PendingAppend::answered(Err(LogError::Ended));
        }
        if let Some(reason) = &platter.failed {
            return PendingAppend::answered(Err(LogError::Closed { reason: reason.clone() }));
        }
        if platter.waiting.len() >= MAX_WAITING {
            return PendingAppend::answered(Err(LogError::Full));
        }
        let (reply, appending) = PendingAppend::pending();
        platter.waiting.push(Waiting { events, reply });
        if platter.sync == SyncMode::AtOnce {
            platter.commit();
        }
        appending
    }

    fn head(&self) -> LogHead {
        self.disk.platter().head
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use league_core::season::event::Fact;
    use league_protocol::time::Timestamp;

    fn events(count: usize) -> Vec<Event> {
        vec![Event { at: Timestamp::EPOCH, fact: Fact::Halted }; count]
    }

    #[test]
    fn a_crash_takes_what_was_not_acknowledged_and_nothing_else() {
        let disk = MemoryDisk::new(SyncMode::OnDemand);
        let (log, _) = disk.open();
        let kept = log.append(events(2));
        disk.sync();
        let lost = log.append(events(3));
        disk.crash();
        assert_eq!(kept.wait().unwrap().seq, 2);
        assert_eq!(lost.wait(), Err(LogError::Ended));
        assert_eq!(log.append(events(1)).wait(), Err(LogError::Ended));
        let (log, found) = disk.open();
        assert_eq!((found.len(), log.head().seq), (2, 2));
    }

    #[test]
    fn a_failed_disk_refuses_until_it_is_opened_again() {
        let disk = MemoryDisk::new(SyncMode::OnDemand);
        let (log, _) = disk.open();
        let waiting = log.append(events(1));
        disk.fail("no space left");
        let reason = String::from("no space left");
        assert_eq!(waiting.wait(), Err(LogError::Failed { reason: reason.clone() }));
        assert_eq!(log.append(events(1)).wait(), Err(LogError::Closed { reason }));
        let (log, found) = disk.open();
        let appended = log.append(events(1));
        disk.sync();
        assert_eq!((found.len(), appended.wait().unwrap().seq), (0, 1));
    }

    #[test]
    fn nothing_grows_without_bound() {
        let disk = MemoryDisk::new(SyncMode::OnDemand);
        let (log, _) = disk.open();
        let waiting: Vec<PendingAppend> = (0..MAX_WAITING).map(|_| log.append(events(1))).collect();
        assert_eq!(log.append(events(1)).wait(), Err(LogError::Full));
        disk.sync();
        assert!(waiting.into_iter().all(|appending| appending.wait().is_ok()));
    }
}
