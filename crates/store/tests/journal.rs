//! The logs: one line serves both schemas, sizes are bounded, and writing never blocks.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what helps it")]

mod support;

use std::fs;
use std::time::{Duration, Instant};

use league_protocol::id::ConversationId;
use league_store::journal::{Journal, JournalEntry, JournalLevel, JournalLimits, JournalWriter};
use serde_json::{Value, json};
use support::now;

fn entry(level: JournalLevel, message: impl Into<String>) -> JournalEntry {
    JournalEntry::new(now(), level, "P01", "TESTED", message)
}

#[test]
fn a_line_has_the_keys_of_both_official_forms() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("logs/agents/P01.log.jsonl");
    let journal = Journal::open(&path).unwrap();
    let mut full = entry(JournalLevel::Warn, "late").with(&json!({ "auth_token": "tok-P01-secret", "ms": 31_000 }));
    full.conversation_id = Some(ConversationId::named("conv-r1m1"));
    full.message_type = Some("CHOOSE_PARITY_CALL".into());
    journal.write(full);
    journal.write(entry(JournalLevel::Debug, "line\nbreaks stay inside"));
    journal.flush();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
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
fn a_full_file_is_put_aside_and_the_oldest_goes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("league.log.jsonl");
    let limits = JournalLimits { bytes: 2000, files: 3, ..JournalLimits::default() };
    let journal = JournalWriter::start(limits).unwrap().journal(&path);
    for number in 0..200 {
        journal.write(entry(JournalLevel::Info, format!("number {number:03}")));
    }
    journal.flush();
    let mut names: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["league.log.jsonl", "league.log.jsonl.1", "league.log.jsonl.2", "league.log.jsonl.3"]);
    let mut last = 200;
    for name in names {
        let text = fs::read_to_string(directory.path().join(name)).unwrap();
        assert!(text.len() <= 2000 && text.ends_with('\n'));
        for line in text.lines().rev() {
            let line: Value = serde_json::from_str(line).unwrap();
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
fn a_journal_goes_on_where_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.log.jsonl");
    for _ in 0..3 {
        let journal = Journal::open(&path).unwrap();
        journal.write(entry(JournalLevel::Info, "again"));
        journal.flush();
    }
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 3);
}

#[test]
fn a_journal_that_is_dropped_still_writes_what_it_was_given() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.log.jsonl");
    let journal = Journal::open(&path).unwrap();
    (0..100).for_each(|_| journal.write(entry(JournalLevel::Info, "kept")));
    drop(journal);
    let patience = Instant::now() + Duration::from_secs(20);
    while fs::read_to_string(&path).unwrap_or_default().lines().count() < 100 {
        assert!(Instant::now() < patience);
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn debug_goes_first_and_what_went_is_counted() {
    const EACH: u64 = 20_000;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.log.jsonl");
    let limits = JournalLimits { waiting: 64, ..JournalLimits::default() };
    let journal = JournalWriter::start(limits).unwrap().journal(&path);
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
fn one_scribe_serves_more_journals_than_files_may_be_open() {
    let directory = tempfile::tempdir().unwrap();
    let scribe = JournalWriter::start(JournalLimits::default()).unwrap();
    let journals: Vec<Journal> =
        (0..150).map(|number| scribe.journal(directory.path().join(format!("agents/P{number}.log.jsonl")))).collect();
    for _ in 0..3 {
        journals.iter().for_each(|journal| journal.write(entry(JournalLevel::Info, "here")));
        journals[0].flush();
    }
    for number in 0..150 {
        let text = fs::read_to_string(directory.path().join(format!("agents/P{number}.log.jsonl"))).unwrap();
        assert_eq!(text.lines().count(), 3);
    }
}

#[test]
fn lines_below_the_level_are_left_out_and_warnings_never() {
    let directory = tempfile::tempdir().unwrap();
    for (level, expected) in [(JournalLevel::Debug, 4), (JournalLevel::Info, 3), (JournalLevel::Warn, 2)] {
        let path = directory.path().join(format!("{level:?}.log.jsonl"));
        let journal = JournalWriter::start(JournalLimits { level, ..JournalLimits::default() }).unwrap().journal(&path);
        assert!(journal.writes(JournalLevel::Warn));
        for each in [JournalLevel::Debug, JournalLevel::Info, JournalLevel::Warn, JournalLevel::Error] {
            journal.write(entry(each, "said"));
        }
        journal.flush();
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), expected, "{level:?}");
    }
}

#[test]
fn what_a_peer_wrote_is_escaped_and_bounded_and_shows_no_token() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.log.jsonl");
    let journal = Journal::open(&path).unwrap();
    let token = format!("tok-P01-{}", "s".repeat(43));
    journal.write(entry(JournalLevel::Warn, format!("expected a number, not \"{token}\"\n{{\u{1b}[31m")));
    journal.write(entry(JournalLevel::Warn, "ü".repeat(5000)).with(&json!({ "long": "x".repeat(20_000) })));
    journal.flush();
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("sss") && text.contains("tok-P01-…"), "{text}");
    assert!(!text.contains('\u{1b}'), "control characters are escaped");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
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
