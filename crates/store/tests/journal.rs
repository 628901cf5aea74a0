//! The logs: one line serves both schemas, sizes are bounded, and writing never blocks.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what helps it")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use league_protocol::id::ConversationId;
use league_store::journal::{Journal, JournalEntry, JournalLevel, JournalLimits, JournalWriter};
use serde_json::{Value, json};
use support::now;
use tempfile::TempDir;

fn journal(limits: JournalLimits) -> (TempDir, PathBuf, Journal) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("logs/a.log.jsonl");
    let journal = JournalWriter::start(limits).unwrap().journal(&path);
    (directory, path, journal)
}

fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap_or_default().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn entry(level: JournalLevel, message: impl Into<String>) -> JournalEntry {
    JournalEntry::new(now(), level, "P01", "TESTED", message)
}

#[test]
fn a_line_has_the_keys_of_both_official_forms() {
    let (_directory, path, journal) = journal(JournalLimits::default());
    let mut full = entry(JournalLevel::Warn, "late").with(&json!({ "auth_token": "tok-P01-secret", "ms": 31_000 }));
    full.conversation_id = Some(ConversationId::named("conv-r1m1"));
    full.message_type = Some("CHOOSE_PARITY_CALL".into());
    journal.write(full);
    journal.write(entry(JournalLevel::Debug, "line\nbreaks stay inside"));
    journal.flush();
    let lines = lines(&path);
    let details = json!({ "auth_token": "tok-P01-…", "ms": 31_000 });
    assert_eq!(
        lines[0],
        json!({
            "timestamp": "2025-01-15T10:30:00Z", "level": "WARN", "agent_id": "P01", "component": "P01",
            "event_type": "TESTED", "message": "late", "conversation_id": "conv-r1m1",
            "message_type": "CHOOSE_PARITY_CALL", "data": details, "details": details,
        })
    );
    assert_eq!((lines.len(), &lines[1]["level"]), (2, &Value::from("DEBUG")));
}

#[test]
fn a_full_file_is_rotated_and_the_oldest_removed() {
    let (_directory, path, journal) = journal(JournalLimits { bytes: 2000, files: 3, ..JournalLimits::default() });
    for number in 0..200 {
        journal.write(entry(JournalLevel::Info, format!("number {number:03}")));
    }
    journal.flush();
    let directory = path.parent().unwrap();
    let mut names: Vec<_> = fs::read_dir(directory).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.log.jsonl", "a.log.jsonl.1", "a.log.jsonl.2", "a.log.jsonl.3"]);
    let mut last = 200;
    for file in names.into_iter().map(|name| directory.join(name)) {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.len() <= 2000 && text.ends_with('\n'));
        for line in lines(&file).iter().rev() {
            last -= 1;
            assert_eq!(line["message"], format!("number {last:03}"), "in order, without a gap");
        }
    }
    assert!(last > 0, "the oldest are gone");
    journal.write(entry(JournalLevel::Info, "long").with(&"x".repeat(5000)));
    journal.write(entry(JournalLevel::Info, "after it"));
    journal.flush();
    assert!(fs::read_to_string(&path).unwrap().contains("after it"), "a line larger than a file has one of its own");
}

#[test]
fn a_journal_appends_to_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.log.jsonl");
    for _ in 0..3 {
        let journal = Journal::open(&path).unwrap();
        journal.write(entry(JournalLevel::Info, "again"));
        journal.flush();
    }
    assert_eq!(lines(&path).len(), 3);
}

#[test]
fn dropping_a_journal_waits_for_its_lines() {
    let (_directory, path, journal) = journal(JournalLimits::default());
    (0..100).for_each(|_| journal.write(entry(JournalLevel::Info, "kept")));
    drop(journal);
    assert_eq!(lines(&path).len(), 100);
}

#[test]
fn debug_lines_are_dropped_first_and_counted() {
    const EACH: u64 = 20_000;
    let (_directory, path, journal) = journal(JournalLimits { waiting: 64, ..JournalLimits::default() });
    for _ in 0..EACH {
        journal.write(entry(JournalLevel::Debug, "chatter"));
        journal.write(entry(JournalLevel::Error, "alarm"));
    }
    journal.flush();
    let dropped = journal.dropped();
    journal.write(entry(JournalLevel::Info, "the end"));
    journal.flush();
    let text = fs::read_to_string(&path).unwrap();
    let count = |word: &str| text.lines().filter(|line| line.contains(word)).count() as u64;
    assert_eq!(count("chatter") + dropped.debug, EACH);
    assert_eq!(count("alarm") + dropped.others, EACH);
    assert!(dropped.debug >= dropped.others, "{dropped:?}");
    assert!(dropped.debug == 0 || count("LOG_LINES_DROPPED") > 0);
}

#[test]
fn one_thread_writes_many_journals() {
    let directory = tempfile::tempdir().unwrap();
    let writer = JournalWriter::start(JournalLimits::default()).unwrap();
    let journals: Vec<Journal> =
        (0..150).map(|number| writer.journal(directory.path().join(format!("agents/P{number}.log.jsonl")))).collect();
    for _ in 0..3 {
        journals.iter().for_each(|journal| journal.write(entry(JournalLevel::Info, "here")));
        journals[0].flush();
    }
    for number in 0..150 {
        assert_eq!(lines(&directory.path().join(format!("agents/P{number}.log.jsonl"))).len(), 3);
    }
}

#[test]
fn lines_below_the_level_are_left_out_and_warnings_never() {
    for (level, expected) in [(JournalLevel::Debug, 4), (JournalLevel::Info, 3), (JournalLevel::Warn, 2)] {
        let (_directory, path, journal) = journal(JournalLimits { level, ..JournalLimits::default() });
        assert!(journal.writes(JournalLevel::Warn));
        for each in [JournalLevel::Debug, JournalLevel::Info, JournalLevel::Warn, JournalLevel::Error] {
            journal.write(entry(each, "logged"));
        }
        journal.flush();
        assert_eq!(lines(&path).len(), expected, "{level:?}");
    }
}

#[test]
fn text_of_a_peer_is_escaped_and_cut_and_shows_no_token() {
    let (_directory, path, journal) = journal(JournalLimits::default());
    let token = format!("tok-P01-{}", "s".repeat(43));
    journal.write(entry(JournalLevel::Warn, format!("expected a number, not \"{token}\"\n{{\u{1b}[31m")));
    journal.write(entry(JournalLevel::Warn, "ü".repeat(5000)).with(&json!({ "long": "x".repeat(20_000) })));
    journal.flush();
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("sss") && text.contains("tok-P01-…"), "{text}");
    assert!(!text.contains('\u{1b}'), "control characters are escaped");
    let lines = lines(&path);
    assert_eq!(lines.len(), 2);
    assert!(lines[1]["message"].as_str().unwrap().len() <= 1024 + 3);
    assert_eq!(lines[1]["data"], Value::Null);
}

#[test]
fn a_journal_that_cannot_be_written_does_not_block() {
    let directory = tempfile::tempdir().unwrap();
    let taken = directory.path().join("taken");
    fs::write(&taken, b"").unwrap();
    let journal = Journal::open(taken.join("a.log.jsonl")).unwrap();
    journal.write(entry(JournalLevel::Info, "lost"));
    journal.flush();
    assert_eq!(journal.dropped().others, 1);
}
