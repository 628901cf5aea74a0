//! What this machine does to somebody who only wants to wake up on time: the measure for whoever was late in the same run.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::tally::Spread;

/// How often it wants to wake up.
const BEAT: Duration = Duration::from_millis(1);

/// A thread that does nothing else.
pub(crate) struct Metronome {
    work: JoinHandle<Vec<u64>>,
    end: Sender<()>,
}

impl Metronome {
    pub(crate) fn start() -> io::Result<Self> {
        let (end, ended) = channel();
        let work = thread::Builder::new().name("metronome".into()).spawn(move || beat(&ended))?;
        Ok(Self { work, end })
    }

    /// By how many milliseconds each beat came too late. One that was due while it slept counts as well: deadlines, too, pass whether anybody is
    /// awake or not.
    pub(crate) fn finish(self) -> Spread {
        drop(self.end);
        Spread::of(self.work.join().unwrap_or_default())
    }
}

fn beat(ended: &Receiver<()>) -> Vec<u64> {
    let (mut late, mut due) = (Vec::new(), Instant::now());
    loop {
        due += BEAT;
        let wait = due.saturating_duration_since(Instant::now());
        if !wait.is_zero() && ended.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected) {
            return late;
        }
        late.push(u64::try_from(due.elapsed().as_millis()).unwrap_or(u64::MAX));
    }
}
