//! How late an idle thread wakes up on this machine: the reference for a referee's lateness.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::receipts::Spread;

const INTERVAL: Duration = Duration::from_millis(1);

pub(crate) struct Timer {
    work: JoinHandle<Vec<u64>>,
    end: Sender<()>,
}

impl Timer {
    pub(crate) fn start() -> io::Result<Self> {
        let (end, ended) = channel();
        let work = thread::Builder::new().name("timer".into()).spawn(move || beat(&ended))?;
        Ok(Self { work, end })
    }

    /// In milliseconds. Intervals that passed while it slept count as well.
    pub(crate) fn finish(self) -> Spread {
        drop(self.end);
        Spread::of(self.work.join().unwrap_or_default())
    }
}

fn beat(ended: &Receiver<()>) -> Vec<u64> {
    let (mut late, mut due) = (Vec::new(), Instant::now());
    loop {
        due += INTERVAL;
        let wait = due.saturating_duration_since(Instant::now());
        if !wait.is_zero() && ended.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected) {
            return late;
        }
        late.push(u64::try_from(due.elapsed().as_millis()).unwrap_or(u64::MAX));
    }
}
