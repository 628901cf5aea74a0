//! Reading the log: in order, checking the chain on the way, and naming the first event that is not what was written.

use league_core::season::event::Event;
use rusqlite::{Connection, Row, params};

use super::chain::{Hash, LogDamage, LogHead};
use super::projection::kind_of;

/// What keeps a log from being read.
pub(crate) enum Unread {
    Damage(LogDamage),
    Sqlite(rusqlite::Error),
}

impl From<LogDamage> for Unread {
    fn from(damage: LogDamage) -> Self {
        Self::Damage(damage)
    }
}

impl From<rusqlite::Error> for Unread {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// A row, as far as it can be trusted: not at all.
struct Stored {
    seq: i64,
    at: String,
    kind: String,
    body: String,
    hash: Vec<u8>,
}

impl Stored {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        // Whatever somebody wrote there is text to us: the hash decides whether it is the right one.
        let text = |column: usize| -> rusqlite::Result<String> {
            let bytes = row.get_ref(column)?.as_bytes().unwrap_or(b"");
            Ok(String::from_utf8_lossy(bytes).into_owned())
        };
        Ok(Self {
            seq: row.get(0)?,
            at: text(1)?,
            kind: text(2)?,
            body: text(3)?,
            hash: row.get_ref(4)?.as_bytes().unwrap_or(b"").to_vec(),
        })
    }
}

/// Hands every event to `each`, with the head behind it. Gives the head of the log.
pub(crate) fn read(connection: &Connection, mut each: impl FnMut(Event, LogHead)) -> Result<LogHead, Unread> {
    let mut statement = connection.prepare("SELECT seq, at, kind, body, hash FROM events ORDER BY seq")?;
    let mut rows = statement.query([])?;
    let mut head = LogHead::GENESIS;
    while let Some(row) = rows.next()? {
        let stored = Stored::of(row)?;
        let next = head.then(&stored.body);
        let seq = next.seq;
        if i64::try_from(seq) != Ok(stored.seq) {
            return Err(LogDamage::Missing { seq, next: stored.seq }.into());
        }
        if next.hash.0 != *stored.hash {
            return Err(diagnose(connection, head, &stored)?.into());
        }
        let event: Event = serde_json::from_str(&stored.body)
            .map_err(|error| LogDamage::Unreadable { seq, reason: error.to_string() })?;
        if event.at.to_string() != stored.at {
            return Err(LogDamage::Column { seq, column: "at" }.into());
        }
        if kind_of(&event.fact) != stored.kind {
            return Err(LogDamage::Column { seq, column: "kind" }.into());
        }
        head = next;
        each(event, head);
    }
    Ok(head)
}

/// At most `limit` events behind event `after`, each with its head. The chain is not followed from its beginning: who wants to
/// know whether the log holds together verifies it.
pub(crate) fn read_some(connection: &Connection, after: u64, limit: usize) -> Result<Vec<(LogHead, Event)>, Unread> {
    let mut statement =
        connection.prepare("SELECT seq, at, kind, body, hash FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2")?;
    let bounds = params![i64::try_from(after).unwrap_or(i64::MAX), i64::try_from(limit).unwrap_or(i64::MAX)];
    let mut rows = statement.query(bounds)?;
    let mut page = Vec::new();
    let mut expected = after;
    while let Some(row) = rows.next()? {
        let stored = Stored::of(row)?;
        expected += 1;
        let seq = expected;
        if i64::try_from(seq) != Ok(stored.seq) {
            return Err(LogDamage::Missing { seq, next: stored.seq }.into());
        }
        let hash = Hash(stored.hash.try_into().map_err(|_| LogDamage::Body { seq })?);
        let event = serde_json::from_str(&stored.body)
            .map_err(|error| LogDamage::Unreadable { seq, reason: error.to_string() })?;
        page.push((LogHead { seq, hash }, event));
    }
    Ok(page)
}

/// What happened to the event behind `head`, whose hash is wrong.
fn diagnose(connection: &Connection, head: LogHead, stored: &Stored) -> Result<LogDamage, rusqlite::Error> {
    let seq = head.seq + 1;
    let mut statement =
        connection.prepare("SELECT seq, at, kind, body, hash FROM events WHERE seq > ?1 ORDER BY seq")?;
    let mut rows = statement.query(params![stored.seq])?;
    let honest = head.hash.then(seq, &stored.body);
    while let Some(row) = rows.next()? {
        let later = Stored::of(row)?;
        let place = u64::try_from(later.seq).unwrap_or(u64::MAX);
        // The one behind was chained to the hash that this event should have.
        if place == seq + 1 && *later.hash == honest.then(place, &later.body).0 {
            return Ok(LogDamage::Hash { seq });
        }
        // Moved with its hash, or without it.
        let Hash(here) = head.hash.then(seq, &later.body);
        if *later.hash == here || *stored.hash == here {
            return Ok(LogDamage::Order { seq, found: place });
        }
    }
    Ok(LogDamage::Body { seq })
}
