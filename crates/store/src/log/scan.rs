//! Reads a whole log on every core.
//!
//! The hash before each event is stored, so threads check slices of the log independently. The chain holds if each slice
//! begins after the last event of the slice before. At most [`AHEAD`] slices of each reader wait, so memory does not grow
//! with the log.

use std::sync::mpsc::sync_channel;
use std::thread;

use league_core::season::event::Event;

use super::{EventLog, LogError, LogHead};

const SLICE: usize = 1024;
const AHEAD: usize = 2;
/// More readers would only wait for the thread that applies the events.
const MAX_READERS: usize = 8;

type Entries = Vec<(LogHead, Event)>;

/// Passes every event and its head to `each` in order, and stops at the first error. Leaves out events that are appended
/// meanwhile.
pub fn scan<E: From<LogError>>(
    log: &dyn EventLog,
    mut each: impl FnMut(LogHead, Event) -> Result<(), E>,
) -> Result<LogHead, E> {
    let last = log.head()?.seq;
    let mut head = LogHead::GENESIS;
    let mut take = |entries: Entries| -> Result<(), E> {
        let mut entries = entries.into_iter();
        if head.seq > 0 && entries.next().is_none_or(|(before, _)| before != head) {
            return Err(LogError::Changed.into());
        }
        for (at, event) in entries.take_while(|(at, _)| at.seq <= last) {
            each(at, event)?;
            head = at;
        }
        Ok(())
    };
    let slices = last.div_ceil(SLICE as u64);
    if slices <= 1 {
        take(log.read(0, SLICE)?)?;
    } else {
        let readers = thread::available_parallelism().map_or(1, usize::from).min(MAX_READERS);
        thread::scope(|scope| {
            let channels: Vec<_> = (0..readers)
                .map(|reader| {
                    let (give, taken) = sync_channel(AHEAD);
                    scope.spawn(move || {
                        for slice in (0..slices).skip(reader).step_by(readers) {
                            let entries = read_slice(log, slice);
                            let failed = entries.is_err();
                            if give.send(entries).is_err() || failed {
                                break;
                            }
                        }
                    });
                    taken
                })
                .collect();
            for (_, channel) in (0..slices).zip(channels.iter().cycle()) {
                take(channel.recv().map_err(|_| LogError::Changed)??)?;
            }
            Ok::<_, E>(())
        })?;
    }
    if head.seq == last { Ok(head) } else { Err(LogError::Changed.into()) }
}

fn read_slice(log: &dyn EventLog, slice: u64) -> Result<Entries, LogError> {
    match slice * SLICE as u64 {
        0 => log.read(0, SLICE),
        start => log.read(start - 1, SLICE + 1),
    }
}
