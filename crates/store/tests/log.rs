//! The log: durable, in order, and not to be changed unnoticed.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, and so may what helps it")]

mod support;

use std::path::PathBuf;
use std::time::Instant;

use league_core::season::event::Event;
use league_protocol::time::Timestamp;
use league_store::log::{EventLog, LogDamage, LogError, LogHead, MAX_WAITING, PendingAppend, SqliteLog};
use support::{halted, played, reported, tamper};
use tempfile::TempDir;

fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("league.db");
    (directory, path)
}

/// A log of a small league, closed again, and its head.
fn written() -> (TempDir, PathBuf, LogHead) {
    let (directory, path) = place();
    let (log, _) = SqliteLog::open(&path).unwrap();
    let head = log.append(played(4, 1).events).wait().unwrap();
    (directory, path, head)
}

fn damage(path: &PathBuf) -> LogDamage {
    match SqliteLog::open(path) {
        Err(LogError::Damaged { damage, .. }) => damage,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_appended_is_there_again() {
    let (_directory, path) = place();
    let story = played(6, 2);
    let (log, nothing) = SqliteLog::open(&path).unwrap();
    assert_eq!((nothing.len(), log.head()), (0, LogHead::GENESIS));
    let (first, second) = story.events.split_at(10);
    let one = log.append(first.to_vec());
    let none = log.append(Vec::new());
    let two = log.append(second.to_vec());
    assert_eq!((one.wait().unwrap().seq, none.wait().unwrap().seq), (10, 10));
    let head = two.wait().unwrap();
    assert_eq!((log.head(), head.seq), (head, u64::try_from(story.events.len()).unwrap()));
    drop(log);
    let (log, events) = SqliteLog::open(&path).unwrap();
    assert_eq!((log.head(), events), (head, story.events));
}

#[test]
fn dropping_a_log_waits_for_everything_that_was_appended() {
    let (_directory, path) = place();
    let (log, _) = SqliteLog::open(&path).unwrap();
    let appended: Vec<PendingAppend> = (0..500).map(|_| log.append(vec![halted(); 3])).collect();
    drop(log);
    let acknowledged = appended.into_iter().map(|appending| appending.wait().unwrap().seq);
    assert!(acknowledged.eq((1..=500).map(|batch| batch * 3)));
    assert_eq!(SqliteLog::open(&path).unwrap().1.len(), 1500);
}

#[test]
fn an_edited_event_is_named() {
    let (_directory, path, _) = written();
    tamper(&path, "UPDATE events SET body = replace(body, 'Player', 'Cheater') WHERE seq = 5");
    assert_eq!(damage(&path), LogDamage::Body { seq: 5 });
}

#[test]
fn an_edited_hash_is_named() {
    let (_directory, path, head) = written();
    tamper(&path, "UPDATE events SET hash = zeroblob(32) WHERE seq = 7");
    assert_eq!(damage(&path), LogDamage::Hash { seq: 7 });
    tamper(&path, "UPDATE events SET hash = x'00' WHERE seq = 3");
    assert_eq!(damage(&path), LogDamage::Hash { seq: 3 });
    // Behind the last one there is nothing that could say which of the two is right.
    let (_directory, path, _) = written();
    tamper(&path, &format!("UPDATE events SET hash = zeroblob(32) WHERE seq = {}", head.seq));
    assert_eq!(damage(&path), LogDamage::Body { seq: head.seq });
}

#[test]
fn a_gap_is_named() {
    let (_directory, path, _) = written();
    tamper(&path, "DELETE FROM events WHERE seq IN (6, 7)");
    assert_eq!(damage(&path), LogDamage::Missing { seq: 6, next: 8 });
    tamper(&path, "DELETE FROM events WHERE seq = 1");
    assert_eq!(damage(&path), LogDamage::Missing { seq: 1, next: 2 });
}

#[test]
fn events_that_changed_places_are_named() {
    let swap = "UPDATE events SET seq = -1 WHERE seq = 4; UPDATE events SET seq = 4 WHERE seq = 9;
                UPDATE events SET seq = 9 WHERE seq = -1;";
    let (_directory, path, _) = written();
    tamper(&path, swap);
    assert_eq!(damage(&path), LogDamage::Order { seq: 4, found: 9 });
    let bodies = "CREATE TEMP TABLE was AS SELECT seq, body FROM events;
                  UPDATE events SET body = (SELECT body FROM was WHERE was.seq = 11 - events.seq) WHERE seq IN (5, 6);";
    let (_directory, path, _) = written();
    tamper(&path, bodies);
    assert_eq!(damage(&path), LogDamage::Order { seq: 5, found: 6 });
}

#[test]
fn a_column_that_says_something_else_is_named() {
    let (_directory, path, _) = written();
    tamper(&path, "UPDATE events SET kind = 'halted' WHERE seq = 2");
    assert_eq!(damage(&path), LogDamage::Column { seq: 2, column: "kind" });
    tamper(&path, "UPDATE events SET at = '1999-01-01T00:00:00Z' WHERE seq = 1");
    assert_eq!(damage(&path), LogDamage::Column { seq: 1, column: "at" });
}

/// A log that is long enough to be read by several at a time, no two of its events alike.
fn long() -> (TempDir, PathBuf, Vec<Event>) {
    let (directory, path) = place();
    let events: Vec<Event> = (0..2500).map(|second| Event { at: Timestamp::from_unix(second), ..halted() }).collect();
    let (log, _) = SqliteLog::open(&path).unwrap();
    log.append(events.clone()).wait().unwrap();
    (directory, path, events)
}

#[test]
fn a_long_log_comes_out_in_order_and_is_not_touched_by_being_read() {
    let (_directory, path, events) = long();
    let before = std::fs::read(&path).unwrap();
    let mut seen = Vec::new();
    let examined = SqliteLog::examine(&path, |event| seen.push(event)).unwrap();
    assert_eq!((seen, examined.head().seq), (events, 2500));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let log = examined.open().unwrap();
    assert_eq!(log.append(vec![halted()]).wait().unwrap().seq, 2501);
}

#[test]
fn damage_is_named_wherever_it_is_in_a_long_log() {
    let (_directory, path, _) = long();
    let whole = std::fs::read(&path).unwrap();
    // The last ones and the first ones of what is read in one piece, and some in the middle of one.
    for seq in [1, 1024, 1025, 1500, 2049, 2499] {
        let checks = [
            ("body = body || ' '", LogDamage::Body { seq }),
            ("hash = zeroblob(32)", LogDamage::Hash { seq }),
            ("hash = x'00'", LogDamage::Hash { seq }),
            ("kind = 'resumed'", LogDamage::Column { seq, column: "kind" }),
            ("at = '1999-01-01T00:00:00Z'", LogDamage::Column { seq, column: "at" }),
            ("seq = -7", LogDamage::Missing { seq: 1, next: -7 }),
            ("seq = 9000", LogDamage::Missing { seq, next: i64::try_from(seq).unwrap() + 1 }),
        ];
        for (change, expected) in checks {
            tamper(&path, &format!("UPDATE events SET {change} WHERE seq = {seq}"));
            let damaged = std::fs::read(&path).unwrap();
            assert_eq!(damage(&path), expected, "event {seq}: {change}");
            assert_eq!(std::fs::read(&path).unwrap(), damaged, "it is left as it is");
            std::fs::write(&path, &whole).unwrap();
        }
    }
}

#[test]
fn a_page_that_no_event_is_on_may_be_damaged_too() {
    let (_directory, path, _) = written();
    let page: u64 = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'matches'", [], |row| row.get::<_, u32>(0))
        .unwrap()
        .into();
    let mut bytes = std::fs::read(&path).unwrap();
    let start = usize::try_from(page - 1).unwrap() * 4096;
    bytes[start..start + 4096].fill(0xA5);
    std::fs::write(&path, &bytes).unwrap();
    assert!(matches!(SqliteLog::open(&path), Err(LogError::Broken { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_log_that_changed_since_it_was_examined_is_not_written_to() {
    let (_directory, path, head) = written();
    let examined = SqliteLog::examine(&path, drop).unwrap();
    assert_eq!(examined.head(), head);
    let (other, _) = SqliteLog::open(&path).unwrap();
    other.append(vec![halted()]).wait().unwrap();
    drop(other);
    let refused = examined.open().unwrap_err().to_string();
    assert!(refused.contains("changed since it was read"), "{refused}");
}

#[test]
fn a_newer_schema_is_refused_with_what_to_do() {
    let (_directory, path, _) = written();
    tamper(&path, "PRAGMA user_version = 7");
    let refused = SqliteLog::open(&path).unwrap_err();
    assert!(matches!(refused, LogError::Newer { found: 7, known: 1, .. }), "{refused:?}");
    let message = refused.to_string();
    assert!(message.contains("newer") && message.contains("--home") && message.contains("league.db"), "{message}");
}

#[test]
fn what_is_not_a_log_is_left_alone() {
    let (_directory, path) = place();
    tamper(&path, "CREATE TABLE cookies (name TEXT)");
    assert!(matches!(SqliteLog::open(&path), Err(LogError::Foreign { .. })));
    std::fs::write(&path, b"not a database at all, but rather a text").unwrap();
    assert!(matches!(SqliteLog::open(&path), Err(LogError::Broken { .. })));
    let nowhere = path.join("nowhere").join("league.db");
    let refused = SqliteLog::open(&nowhere).unwrap_err().to_string();
    assert!(refused.contains("nowhere"), "{refused}");
}

#[test]
fn a_commit_that_fails_is_told_to_everybody_and_ends_the_log() {
    let (_directory, path) = place();
    let (log, _) = SqliteLog::open(&path).unwrap();
    let kept = log.append(vec![halted(); 4]).wait().unwrap();
    tamper(
        &path,
        "CREATE TRIGGER full BEFORE INSERT ON events WHEN NEW.seq = 6
         BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
    );
    let failed = log.append(vec![halted(); 3]).wait().unwrap_err();
    assert!(matches!(&failed, LogError::Failed { reason } if reason.contains("disk is full")), "{failed:?}");
    let refused = log.append(vec![halted()]).wait().unwrap_err();
    assert!(matches!(&refused, LogError::Closed { reason } if reason.contains("disk is full")), "{refused:?}");
    assert_eq!(log.head(), kept);
    drop(log);
    tamper(&path, "DROP TRIGGER full");
    let (log, events) = SqliteLog::open(&path).unwrap();
    assert_eq!((events.len(), log.head()), (4, kept), "nothing is half written");
    assert_eq!(log.append(vec![halted()]).wait().unwrap().seq, 5);
}

#[test]
fn a_second_writer_is_noticed() {
    let (_directory, path) = place();
    let (one, _) = SqliteLog::open(&path).unwrap();
    let (other, _) = SqliteLog::open(&path).unwrap();
    one.append(vec![halted()]).wait().unwrap();
    let refused = other.append(vec![halted()]).wait().unwrap_err();
    assert!(matches!(refused, LogError::Failed { .. }), "{refused:?}");
    one.append(vec![halted()]).wait().unwrap();
    drop((one, other));
    assert_eq!(SqliteLog::open(&path).unwrap().1.len(), 2);
}

#[test]
fn a_queue_that_is_full_says_so_and_loses_nothing_that_it_took() {
    let (_directory, path) = place();
    let (log, _) = SqliteLog::open(&path).unwrap();
    let answers: Vec<_> = {
        // Somebody looks at the file with a heavy hand: the writer waits, with one queue in its hands and one before it.
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        (0..=2 * MAX_WAITING).map(|_| log.append(vec![halted(); 2])).collect()
    };
    let answers: Vec<_> = answers.into_iter().map(PendingAppend::wait).collect();
    let taken = answers.iter().filter(|answer| answer.is_ok()).count();
    assert!(answers.iter().all(|answer| matches!(answer, Ok(_) | Err(LogError::Full))));
    assert!((MAX_WAITING..=2 * MAX_WAITING).contains(&taken), "{taken}");
    drop(log);
    assert_eq!(SqliteLog::open(&path).unwrap().1.len(), taken * 2);
}

#[test]
fn a_hundred_thousand_events_go_in_and_come_out() {
    const EVENTS: u64 = 100_000;
    let (_directory, path) = place();
    let (log, _) = SqliteLog::open(&path).unwrap();
    let events = played(4, 3).events;
    let event = events.iter().find(|event| reported(event).is_some_and(|(_, record)| record.proof.is_some()));
    let event = event.unwrap().clone();
    let began = Instant::now();
    let mut outstanding = std::collections::VecDeque::new();
    let mut last = LogHead::GENESIS;
    for _ in 0..EVENTS {
        outstanding.push_back(log.append(vec![event.clone()]));
        if outstanding.len() >= 256 {
            last = outstanding.pop_front().unwrap().wait().unwrap();
        }
    }
    for appending in outstanding {
        last = appending.wait().unwrap();
    }
    let written = began.elapsed();
    assert_eq!(last.seq, EVENTS);
    drop(log);
    let bytes = std::fs::metadata(&path).unwrap().len() / EVENTS;
    let began = Instant::now();
    let (_, events) = SqliteLog::open(&path).unwrap();
    let read = began.elapsed();
    assert_eq!(events.len() as u64, EVENTS);
    let rate = |elapsed: std::time::Duration| EVENTS as f64 / elapsed.as_secs_f64();
    println!("256 outstanding: {:.0} events/s written, {:.0}/s read, {bytes} bytes each", rate(written), rate(read));
}
