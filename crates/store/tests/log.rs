//! The log: durable, ordered, and every change is noticed.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, and so may what helps it")]

mod postgres;
mod support;

use std::path::PathBuf;

use league_core::season::Season;
use league_core::season::event::Event;
use league_protocol::time::Timestamp;
use league_store::log::memory::SyncMode;
use league_store::log::{EventLog, LogDamage, LogError, LogHead, MemoryDisk, PendingAppend, SqliteLog, replay, scan};
use support::{halted, played, tamper};
use tempfile::TempDir;

fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("league.db");
    (directory, path)
}

fn written() -> (TempDir, PathBuf, LogHead) {
    let (directory, path) = place();
    let head = SqliteLog::at(&path).append(LogHead::GENESIS, played(4, 1).events).wait().unwrap();
    (directory, path, head)
}

fn all(log: &dyn EventLog) -> Result<(Vec<Event>, LogHead), LogError> {
    let mut events = Vec::new();
    let head = scan(log, |_, event| {
        events.push(event);
        Ok::<_, LogError>(())
    })?;
    Ok((events, head))
}

fn damage(path: &PathBuf) -> LogDamage {
    match all(&SqliteLog::at(path)) {
        Err(LogError::Damaged { damage, log }) if log.contains("league.db") => damage,
        other => panic!("{other:?}"),
    }
}

/// Every implementation fulfils this; `log` starts empty.
fn keeps_the_contract(log: &dyn EventLog) {
    let events = played(6, 2).events;
    let count = events.len() as u64;
    assert_eq!((log.head(), log.read(0, 10)), (Ok(LogHead::GENESIS), Ok(Vec::new())));
    let (first, second) = events.split_at(10);
    let ten = log.append(LogHead::GENESIS, first.to_vec()).wait().unwrap();
    assert_eq!(log.append(ten, Vec::new()).wait(), Ok(ten), "no event, no change");
    let head = log.append(ten, second.to_vec()).wait().unwrap();
    assert_eq!((ten.seq, head.seq, log.head()), (10, count, Ok(head)));
    let stale = log.append(ten, vec![halted()]).wait();
    assert_eq!(stale, Err(LogError::Conflict { after: ten, found: head }), "the fence");
    let page = log.read(9, 3).unwrap();
    assert_eq!(page[0], (ten, events[9].clone()));
    assert_eq!(page.iter().map(|(head, _)| head.seq).collect::<Vec<_>>(), [10, 11, 12]);
    assert_eq!((log.read(count, 3), log.read(count + 5, 3)), (Ok(Vec::new()), Ok(Vec::new())));
    assert_eq!(all(log), Ok((events.clone(), head)));
    let (season, replayed) = replay(log, |_, _| {}).unwrap();
    assert_eq!((season.finish().unwrap(), replayed), (Season::replay(&events).unwrap(), head));
}

#[test]
fn every_log_keeps_the_contract() {
    keeps_the_contract(&MemoryDisk::new(SyncMode::AtOnce).open());
    let (_directory, path) = place();
    let log = SqliteLog::at(&path);
    keeps_the_contract(&log);
    drop(log);
    assert_eq!(all(&SqliteLog::at(&path)).unwrap().0, played(6, 2).events, "it is there again");
}

#[test]
fn dropping_a_log_waits_for_the_append() {
    let (_directory, path) = place();
    let appended = SqliteLog::at(&path).append(LogHead::GENESIS, vec![halted(); 3]);
    assert_eq!(appended.wait().unwrap().seq, 3);
    assert_eq!(SqliteLog::at(&path).head().unwrap().seq, 3);
}

#[test]
fn damage_to_a_log_is_named() {
    let last = u64::try_from(played(4, 1).events.len()).unwrap();
    for (statements, expected) in [
        ("UPDATE events SET body = replace(body, 'Player', 'Cheater') WHERE seq = 5", LogDamage::Body { seq: 5 }),
        // No later event tells whether the text or the hash of the last event is right.
        (
            "UPDATE events SET hash = zeroblob(32) WHERE seq = (SELECT max(seq) FROM events)",
            LogDamage::Body { seq: last },
        ),
        ("DELETE FROM events WHERE seq IN (6, 7)", LogDamage::Missing { seq: 6, next: 8 }),
        ("DELETE FROM events WHERE seq = 1", LogDamage::Missing { seq: 1, next: 2 }),
        (
            "UPDATE events SET seq = -1 WHERE seq = 4; UPDATE events SET seq = 4 WHERE seq = 9;
             UPDATE events SET seq = 9 WHERE seq = -1;",
            LogDamage::Order { seq: 4, found: 9 },
        ),
        (
            "CREATE TEMP TABLE was AS SELECT seq, body FROM events;
             UPDATE events SET body = (SELECT body FROM was WHERE was.seq = 11 - events.seq) WHERE seq IN (5, 6);",
            LogDamage::Order { seq: 5, found: 6 },
        ),
    ] {
        let (_directory, path, _) = written();
        tamper(&path, statements);
        assert_eq!(damage(&path), expected, "{statements}");
    }
}

/// The events are distinct.
fn long(count: i64) -> (TempDir, PathBuf, Vec<Event>) {
    let (directory, path) = place();
    let events: Vec<Event> = (0..count).map(|second| Event { at: Timestamp::from_unix(second), ..halted() }).collect();
    SqliteLog::at(&path).append(LogHead::GENESIS, events.clone()).wait().unwrap();
    (directory, path, events)
}

#[test]
fn a_long_log_is_read_in_order_and_not_changed() {
    // More slices than the readers keep in memory.
    let (_directory, path, events) = long(10_000);
    let before = std::fs::read(&path).unwrap();
    let log = SqliteLog::at(&path);
    let (seen, head) = all(&log).unwrap();
    assert_eq!((seen, head.seq), (events, 10_000));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(log.append(head, vec![halted()]).wait().unwrap().seq, head.seq + 1);
}

#[test]
fn damage_is_named_anywhere_in_a_long_log() {
    let (_directory, path, _) = long(2500);
    let whole = std::fs::read(&path).unwrap();
    // Both ends of a slice, and some events in the middle.
    for seq in [1, 1024, 1025, 1500, 2049, 2499] {
        let checks = [
            ("body = body || ' '", LogDamage::Body { seq }),
            ("hash = zeroblob(32)", LogDamage::Hash { seq }),
            ("hash = x'00'", LogDamage::Hash { seq }),
            ("seq = -7", LogDamage::Missing { seq: 1, next: -7 }),
            ("seq = 90000", LogDamage::Missing { seq, next: i64::try_from(seq).unwrap() + 1 }),
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
fn a_log_of_another_format_is_refused_with_advice() {
    let (_directory, path, head) = written();
    for (format, version) in [(1, "league 0.1.0"), (7, "a newer version")] {
        tamper(&path, &format!("PRAGMA user_version = {format}"));
        let refused = SqliteLog::at(&path).head().unwrap_err();
        assert_eq!(SqliteLog::at(&path).append(head, Vec::new()).wait(), Err(refused.clone()));
        let message = refused.to_string();
        assert!(message.contains(version) && message.contains("--home") && message.contains("league.db"), "{message}");
    }
}

#[test]
fn a_file_that_is_no_log_is_refused() {
    let (_directory, path) = place();
    tamper(&path, "CREATE TABLE cookies (name TEXT)");
    assert!(matches!(SqliteLog::at(&path).head(), Err(LogError::Unavailable { .. })));
    std::fs::write(&path, b"not a database at all, but rather a text").unwrap();
    assert!(matches!(damage(&path), LogDamage::Storage { .. }));
    let nowhere = path.join("nowhere").join("league.db");
    let refused = SqliteLog::at(&nowhere).append(LogHead::GENESIS, vec![halted()]).wait().unwrap_err().to_string();
    assert!(refused.contains("nowhere"), "{refused}");
}

#[test]
fn after_a_failed_commit_the_log_refuses_appends() {
    let (_directory, path) = place();
    let log = SqliteLog::at(&path);
    let kept = log.append(LogHead::GENESIS, vec![halted(); 4]).wait().unwrap();
    tamper(
        &path,
        "CREATE TRIGGER full BEFORE INSERT ON events WHEN NEW.seq = 6
         BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
    );
    let failed = log.append(kept, vec![halted(); 3]).wait().unwrap_err();
    assert!(matches!(&failed, LogError::Failed { reason } if reason.contains("disk is full")), "{failed:?}");
    let refused = log.append(kept, vec![halted()]).wait().unwrap_err();
    assert!(matches!(&refused, LogError::Closed { reason } if reason.contains("disk is full")), "{refused:?}");
    drop(log);
    tamper(&path, "DROP TRIGGER full");
    let log = SqliteLog::at(&path);
    assert_eq!(log.head(), Ok(kept), "nothing is half written");
    assert_eq!(log.append(kept, vec![halted()]).wait().unwrap().seq, 5);
}

#[test]
fn an_append_is_refused_while_two_others_wait() {
    let (_directory, path) = place();
    let log = SqliteLog::at(&path);
    let head = log.append(LogHead::GENESIS, vec![halted()]).wait().unwrap();
    let answers: Vec<_> = {
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        (0..5).map(|_| log.append(head, vec![halted(); 2])).collect()
    };
    let answers: Vec<_> = answers.into_iter().map(PendingAppend::wait).collect();
    assert_eq!(answers[0].as_ref().unwrap().seq, 3);
    assert!(matches!(answers[1], Err(LogError::Conflict { .. } | LogError::Busy)), "{answers:?}");
    assert_eq!(answers[4], Err(LogError::Busy));
    assert_eq!(log.head().unwrap().seq, 3);
}
