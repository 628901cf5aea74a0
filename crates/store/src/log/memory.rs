//! A log in memory: a simulation decides when it syncs, fails and crashes.
//!
//! As with the real log, acknowledged events survive a crash, and others may be lost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use league_core::season::event::Event;
use tokio::sync::oneshot;

use super::{EventLog, LogError, LogHead, PendingAppend};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SyncMode {
    #[default]
    AtOnce,
    OnDemand,
}

#[derive(Clone, Debug, Default)]
pub struct MemoryDisk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    sync: SyncMode,
    durable: Vec<(LogHead, Event)>,
    waiting: Vec<Waiting>,
    failed: Option<String>,
    /// Counts the openings; a log from an earlier opening is refused.
    epoch: u64,
}

#[derive(Debug)]
struct Waiting {
    entries: Vec<(LogHead, Event)>,
    end: LogHead,
    reply: oneshot::Sender<Result<LogHead, LogError>>,
}

impl MemoryDisk {
    pub fn new(sync: SyncMode) -> Self {
        Self(Arc::new(Mutex::new(State { sync, ..State::default() })))
    }

    /// Refuses every log that was opened before.
    pub fn open(&self) -> MemoryLog {
        let mut state = self.state();
        state.end_epoch();
        MemoryLog { disk: self.clone(), epoch: state.epoch }
    }

    /// For reading only; earlier logs stay usable.
    pub fn reader(&self) -> MemoryLog {
        MemoryLog { disk: self.clone(), epoch: 0 }
    }

    pub fn sync(&self) {
        self.state().commit();
    }

    /// Loses all waiting appends and ends every open log.
    pub fn crash(&self) {
        self.state().end_epoch();
    }

    /// Fails the waiting appends and all later ones for `reason`, until the log is opened again.
    pub fn fail(&self, reason: &str) {
        let mut state = self.state();
        state.failed = Some(reason.to_owned());
        for waiting in std::mem::take(&mut state.waiting) {
            let _ = waiting.reply.send(Err(LogError::Failed { reason: reason.to_owned() }));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The head once all waiting appends are durable.
    fn end(&self) -> LogHead {
        self.waiting.last().map_or_else(|| self.head(), |waiting| waiting.end)
    }

    fn head(&self) -> LogHead {
        self.durable.last().map_or(LogHead::GENESIS, |(head, _)| *head)
    }

    fn commit(&mut self) {
        for Waiting { entries, end, reply } in std::mem::take(&mut self.waiting) {
            self.durable.extend(entries);
            let _ = reply.send(Ok(end));
        }
    }

    fn end_epoch(&mut self) {
        self.epoch += 1;
        self.failed = None;
        // Dropping a waiting append answers it with `LogError::Ended`.
        self.waiting.clear();
    }
}

#[derive(Debug)]
pub struct MemoryLog {
    disk: MemoryDisk,
    epoch: u64,
}

impl MemoryLog {
    /// The head once all waiting appends are durable.
    pub fn end(&self) -> LogHead {
        self.disk.state().end()
    }

    fn try_append(&self, after: LogHead, events: Vec<Event>) -> Result<PendingAppend, LogError> {
        let mut state = self.disk.state();
        if state.epoch != self.epoch {
            return Err(LogError::Ended);
        }
        if let Some(reason) = &state.failed {
            return Err(LogError::Closed { reason: reason.clone() });
        }
        let mut end = state.end();
        if end != after {
            return Err(LogError::Conflict { after, found: end });
        }
        let mut entries = Vec::with_capacity(events.len());
        for event in events {
            let body = serde_json::to_string(&event).map_err(|error| LogError::Failed { reason: error.to_string() })?;
            end = end.then(&body);
            entries.push((end, event));
        }
        let (reply, appending) = PendingAppend::pending();
        state.waiting.push(Waiting { entries, end, reply });
        if state.sync == SyncMode::AtOnce {
            state.commit();
        }
        Ok(appending)
    }
}

impl EventLog for MemoryLog {
    fn append(&self, after: LogHead, events: Vec<Event>) -> PendingAppend {
        self.try_append(after, events).unwrap_or_else(|error| PendingAppend::answered(Err(error)))
    }

    fn head(&self) -> Result<LogHead, LogError> {
        Ok(self.disk.state().head())
    }

    fn read(&self, after: u64, limit: usize) -> Result<Vec<(LogHead, Event)>, LogError> {
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        Ok(self.disk.state().durable.iter().skip(after).take(limit).cloned().collect())
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
        let log = disk.open();
        let kept = log.append(LogHead::GENESIS, events(2));
        disk.sync();
        let head = kept.wait().unwrap();
        let lost = log.append(head, events(3));
        disk.crash();
        assert_eq!(lost.wait(), Err(LogError::Ended));
        assert_eq!(log.append(head, events(1)).wait(), Err(LogError::Ended));
        assert_eq!((head.seq, disk.open().head()), (2, Ok(head)));
    }

    #[test]
    fn a_failed_disk_refuses_until_it_is_opened_again() {
        let disk = MemoryDisk::new(SyncMode::OnDemand);
        let log = disk.open();
        let waiting = log.append(LogHead::GENESIS, events(1));
        disk.fail("no space left");
        let reason = String::from("no space left");
        assert_eq!(waiting.wait(), Err(LogError::Failed { reason: reason.clone() }));
        assert_eq!(log.append(LogHead::GENESIS, events(1)).wait(), Err(LogError::Closed { reason }));
        let log = disk.open();
        let appended = log.append(LogHead::GENESIS, events(1));
        disk.sync();
        assert_eq!(appended.wait().unwrap().seq, 1);
    }
}
