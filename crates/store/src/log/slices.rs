//! Reading all of a long log on every core, a few slices at a time.
//!
//! The hash of an event covers the hash before it, and that one is stored. So a slice is checked from the hash that is stored before
//! its first event on, while others are checked elsewhere; and where each slice begins with the hash that the one before has ended
//! with, the chain holds from its beginning. Slices are handed over in their order. Those that nobody has taken yet are few, so the
//! memory does not grow with the log.
//!
//! What is wrong with a log that does not hold is found out by [`read`], one event after the other.

use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use league_core::season::event::Event;
use league_protocol::time::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Statement, params};

use super::chain::{Hash, LogHead};
use super::projection::kind_of;
use super::read::read;
use super::{LogError, schema, sqlite};

const SLICE: u64 = 1024;
/// Slices of one reader that wait to be taken.
const AHEAD: usize = 2;
/// More readers would only wait for whoever takes the slices.
const MOST_READERS: usize = 8;

/// Events that follow each other, with a chain that holds.
struct Slice {
    /// The hash that is stored before the first of them.
    before: Hash,
    events: Vec<Event>,
    head: LogHead,
}

/// Something is not as it was written; what, is for others to find out.
struct BrokenSlice;

impl From<rusqlite::Error> for BrokenSlice {
    fn from(_: rusqlite::Error) -> Self {
        Self
    }
}

/// Hands every event of the log at `path` to `each`, in order, and gives the head. Changes nothing. A file that nothing was written
/// to yet holds no events. What is appended meanwhile may be left out.
pub(super) fn read_all(path: &Path, mut each: impl FnMut(Event)) -> Result<LogHead, LogError> {
    let Some(connection) = schema::open_if_any(path)? else { return Ok(LogHead::GENESIS) };
    let last = connection.query_row("SELECT max(seq) FROM events", [], |row| row.get::<_, Option<i64>>(0));
    let last = last.map_err(|error| schema::refused(path, &error))?;
    let last = last.and_then(|last| u64::try_from(last).ok()).unwrap_or(0);
    let unreadable = |unread| sqlite::unreadable(path, unread);
    if last <= SLICE {
        return read(&connection, |event, _| each(event)).map_err(unreadable);
    }
    in_slices(path, last, each).or_else(|BrokenSlice| {
        read(&connection, |_, _| ()).map_err(unreadable)?;
        Err(LogError::Open { path: path.to_path_buf(), reason: String::from("it changed while it was being read") })
    })
}

/// The events up to `last`, read by several and handed over in order.
fn in_slices(path: &Path, last: u64, mut each: impl FnMut(Event)) -> Result<LogHead, BrokenSlice> {
    let readers = thread::available_parallelism().map_or(1, usize::from).min(MOST_READERS);
    thread::scope(|scope| {
        let slices: Vec<Receiver<Result<Slice, BrokenSlice>>> = (0..readers)
            .map(|reader| {
                let (slices, taken) = sync_channel(AHEAD);
                scope.spawn(move || {
                    let mine = (0..last).step_by(SLICE as usize).skip(reader).step_by(readers);
                    // Whoever does not take any more has seen something that is not whole.
                    let read = read_slices(path, last, mine, |slice| slices.send(Ok(slice)).is_ok());
                    if let Err(unwhole) = read {
                        drop(slices.send(Err(unwhole)));
                    }
                });
                taken
            })
            .collect();
        let mut head = LogHead::GENESIS;
        let mut turns = slices.iter().cycle();
        while head.seq < last {
            let slice = turns.next().and_then(|taken| taken.recv().ok()).ok_or(BrokenSlice)??;
            if slice.before != head.hash {
                return Err(BrokenSlice);
            }
            head = slice.head;
            slice.events.into_iter().for_each(&mut each);
        }
        Ok(head)
    })
}

/// The slices behind each of `starts`, for as long as `give` wants more.
fn read_slices(
    path: &Path,
    last: u64,
    starts: impl Iterator<Item = u64>,
    mut give: impl FnMut(Slice) -> bool,
) -> Result<(), BrokenSlice> {
    let connection: Connection = schema::open_if_any(path).ok().flatten().ok_or(BrokenSlice)?;
    let mut statement =
        connection.prepare("SELECT seq, body, hash, kind, at FROM events WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq")?;
    let mut clock = Clock::default();
    for start in starts {
        let slice = read_slice(&mut statement, start, last.min(start + SLICE), &mut clock)?;
        if !give(slice) {
            break;
        }
    }
    Ok(())
}

/// The events behind event `start` up to event `end`.
fn read_slice(statement: &mut Statement<'_>, start: u64, end: u64, clock: &mut Clock) -> Result<Slice, BrokenSlice> {
    // The first slice shows also what has no business before the first event.
    let from = if start == 0 { i64::MIN } else { i64::try_from(start).map_err(|_| BrokenSlice)? };
    let mut rows = statement.query(params![from, i64::try_from(end).map_err(|_| BrokenSlice)?])?;
    let before = match start {
        0 => Hash::GENESIS,
        _ => hash_of(rows.next()?.ok_or(BrokenSlice)?)?,
    };
    let mut slice =
        Slice { before, events: Vec::with_capacity(SLICE as usize), head: LogHead { seq: start, hash: before } };
    while let Some(row) = rows.next()? {
        let body = text(row, 1)?;
        let next = slice.head.then(body);
        if i64::try_from(next.seq) != Ok(row.get(0)?) || next.hash != hash_of(row)? {
            return Err(BrokenSlice);
        }
        let event: Event = serde_json::from_str(body).map_err(|_| BrokenSlice)?;
        if text(row, 3)? != kind_of(&event.fact) || text(row, 4)? != clock.written(event.at) {
            return Err(BrokenSlice);
        }
        slice.head = next;
        slice.events.push(event);
    }
    if slice.head.seq == end { Ok(slice) } else { Err(BrokenSlice) }
}

fn text<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a str, BrokenSlice> {
    match row.get_ref(column)? {
        ValueRef::Text(bytes) => str::from_utf8(bytes).map_err(|_| BrokenSlice),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => Err(BrokenSlice),
    }
}

fn hash_of(row: &Row<'_>) -> Result<Hash, BrokenSlice> {
    let stored = row.get_ref(2)?.as_bytes().map_err(|_| BrokenSlice)?;
    stored.try_into().map(Hash).map_err(|_| BrokenSlice)
}

/// A time as text, written once for all events of the same second.
struct Clock {
    at: Timestamp,
    written: String,
}

impl Default for Clock {
    fn default() -> Self {
        Self { at: Timestamp::EPOCH, written: Timestamp::EPOCH.to_string() }
    }
}

impl Clock {
    fn written(&mut self, at: Timestamp) -> &str {
        if at != self.at {
            *self = Self { at, written: at.to_string() };
        }
        &self.written
    }
}
