//! `verify` accepts a sound league and names what is wrong with others.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what helps it")]

mod support;

use std::fs;
use std::path::Path;

use league_core::season::event::Fact;
use league_protocol::id::MatchId;
use league_store::home::Home;
use league_store::log::{EventLog, LogHead};
use league_store::verify::{VerifyFinding, VerifyReport, verify};
use league_store::views::repair::Repair;
use league_store::views::restore::expect_no_less;
use league_store::views::writer::ViewLimits;
use serde_json::Value;
use support::{GeneratedLeague, eventful, league, played, reported, restore, tamper, transcribed, transcript_entry};
use tempfile::TempDir;

fn home() -> (TempDir, Home) {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    home.prepare(&league()).unwrap();
    (directory, home)
}

fn kept(generated: &GeneratedLeague) -> (TempDir, Home, LogHead) {
    let (directory, home) = home();
    let head = home.log(&league()).append(LogHead::GENESIS, generated.events.clone()).wait().unwrap();
    restore(&home, &generated.events, ViewLimits::default());
    (directory, home, head)
}

fn check(home: &Home) -> Result<VerifyReport, VerifyFinding> {
    verify(home, &league(), None)
}

/// The first error in the log, or all findings in files.
fn finding(home: &Home) -> String {
    match check(home) {
        Err(finding) => finding.to_string(),
        Ok(report) => report.differences.iter().map(|difference| format!("{difference}\n")).collect(),
    }
}

fn assert_sound(report: &VerifyReport) {
    assert_eq!((&*report.differences, &*report.stale), (&[][..], &[][..]));
}

fn edit(path: &Path, pointer: &str, value: impl Into<Value>) {
    let mut document: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    *document.pointer_mut(pointer).unwrap() = value.into();
    fs::write(path, serde_json::to_vec(&document).unwrap()).unwrap();
}

fn drawn(generated: &GeneratedLeague) -> MatchId {
    let mut results = generated.events.iter().filter_map(reported);
    results.find_map(|(match_id, record)| record.proof.is_some().then(|| match_id.clone())).unwrap()
}

#[test]
fn the_report_about_a_sound_league_counts_everything() {
    let generated = played(11, 5);
    let (_directory, home, head) = kept(&generated);
    let report = verify(&home, &league(), Some(head)).unwrap();
    assert_eq!((report.events, report.matches, report.head), (generated.events.len() as u64, 55, head));
    assert_eq!(report.files, 55);
    assert_sound(&report);
    let numbers = generated.events.iter().filter_map(reported).filter(|(_, record)| record.drawn.is_some()).count();
    // The referees of this league deposit no commitments.
    assert_eq!(report.draws_consistent + report.draws_unproved, numbers as u64);
    assert!(report.draws_consistent > 0 && report.draws_unproved > 0 && report.draws_proved == 0, "{report:?}");
    assert!(serde_json::to_value(&report).unwrap()["head"].as_str().unwrap().starts_with(&format!("{}:", head.seq)));
}

#[test]
fn an_awarded_match_has_a_result_and_no_file() {
    let generated = eventful(5);
    let (_directory, home, _) = kept(&generated);
    let report = check(&home).unwrap();
    let played = generated.events.iter().filter_map(reported).count() as u64;
    assert_eq!((report.matches, report.files), (15, played));
    assert_sound(&report);
    assert!(played < 15);
}

#[test]
fn a_league_can_be_verified_during_play() {
    let generated = played(6, 6);
    let (_directory, home) = home();
    let (log, mut head) = (home.log(&league()), LogHead::GENESIS);
    let mut appended = 0;
    for (index, batch) in generated.events.chunks(5).enumerate() {
        head = log.append(head, batch.to_vec()).wait().unwrap();
        appended += batch.len();
        if index % 4 == 3 {
            restore(&home, &generated.events[..appended], ViewLimits::default());
        }
        // The tests have no manager that holds the lock, so a file that is not written yet is missing.
        let report = check(&home).unwrap();
        assert_eq!((report.events, report.head), (appended as u64, head));
        assert!(report.differences.iter().all(|difference| difference.found == "missing"), "{report:?}");
    }
}

#[test]
fn a_cut_log_is_found_by_its_head_or_its_standings() {
    let generated = played(5, 7);
    let (_directory, home, head) = kept(&generated);
    tamper(&home.database(&league()), &format!("DELETE FROM events WHERE seq > {}", head.seq - 6));
    let by_head = verify(&home, &league(), Some(head)).unwrap_err().to_string();
    assert!(by_head.contains("cut") || by_head.contains("standings.json"), "{by_head}");
    assert!(finding(&home).contains("standings.json"), "{}", finding(&home));
    let events = home.log(&league()).read(0, usize::MAX).unwrap();
    let left = events.iter().filter(|(_, event)| event.fact.result().is_some()).count().try_into().unwrap();
    let refused = expect_no_less(&home, &league(), left).unwrap_err().to_string();
    assert!(refused.contains("standings.json") && refused.contains("league.db"), "{refused}");
    expect_no_less(&home, &league(), generated.season.matches_completed()).unwrap();
    for path in [home.standings(&league()), home.rounds(&league()), home.agents_config()] {
        fs::remove_file(path).unwrap();
    }
    check(&home).unwrap();
    let by_head = verify(&home, &league(), Some(head)).unwrap_err();
    assert!(matches!(by_head, VerifyFinding::Cut { .. }), "{by_head}");
}

#[test]
fn a_rewritten_log_is_found_only_by_its_head() {
    let (_one, home, head) = kept(&played(4, 8));
    let (_other, forged, _) = kept(&played(4, 9));
    check(&forged).unwrap();
    verify(&home, &league(), Some(head)).unwrap();
    let found = verify(&forged, &league(), Some(head)).unwrap_err();
    assert!(matches!(found, VerifyFinding::Rewritten { .. } | VerifyFinding::Cut { .. }), "{found}");
}

#[test]
fn an_edited_log_or_table_is_named() {
    let (_directory, home, _) = kept(&played(4, 1));
    edit(&home.standings(&league()), "/standings/2/points", 99);
    let found = finding(&home);
    assert!(found.contains("standings.json") && found.contains("standings[2].points is 99"), "{found}");
    let edit = "UPDATE events SET body = replace(body, 'even', 'odd') WHERE body LIKE '%match_reported%'";
    tamper(&home.database(&league()), edit);
    let found = finding(&home);
    assert!(found.contains("league.db") && found.contains("was changed"), "{found}");
}

#[test]
fn an_edited_match_file_is_named() {
    let generated = played(5, 3);
    let (_directory, home, _) = kept(&generated);
    let path = home.match_file(&league(), &drawn(&generated));
    let before = fs::read(&path).unwrap();
    for (pointer, value, field) in [
        ("/result/winner", Value::from("P77"), "result.winner"),
        ("/result/details/drawn_number", Value::from(11), "result.details.drawn_number"),
        ("/draw/secret", Value::from("ab".repeat(32)), "draw.secret"),
    ] {
        edit(&path, pointer, value);
        let found = finding(&home);
        assert!(found.contains(field) && found.contains(path.to_str().unwrap()), "{found}");
        fs::write(&path, &before).unwrap();
    }
}

#[test]
fn a_result_that_contradicts_its_draw_is_named() {
    let mut generated = played(4, 2);
    let proved = drawn(&generated);
    for event in &mut generated.events {
        if let Fact::MatchReported { match_id, record, .. } = &mut event.fact
            && *match_id == proved
        {
            record.drawn = record.drawn.map(|number| number % 10 + 1);
        }
    }
    let (_directory, home, _) = kept(&generated);
    let found = finding(&home);
    assert!(found.contains(proved.as_str()) && found.contains("draw"), "{found}");
}

#[test]
fn an_impossible_event_and_the_log_of_another_league_are_named() {
    let mut generated = played(4, 2);
    let extra = generated.events[4].clone();
    generated.events.push(extra);
    let (_directory, home) = home();
    let head = home.log(&league()).append(LogHead::GENESIS, generated.events.clone()).wait().unwrap();
    let found = finding(&home);
    assert!(found.contains(&format!("event {}", head.seq)), "{found}");
    let other = "another".parse().unwrap();
    assert!(matches!(verify(&home, &other, None), Err(VerifyFinding::Home(_))));
    fs::create_dir_all(home.league(&other)).unwrap();
    fs::copy(home.database(&league()), home.database(&other)).unwrap();
    assert!(matches!(verify(&home, &other, None), Err(VerifyFinding::OtherLeague { .. })));
}

#[test]
fn a_file_of_an_attempt_that_did_not_count_is_stale_and_one_of_no_attempt_differs() {
    let generated = played(11, 5);
    let (_directory, home, _) = kept(&generated);
    let again = generated.events.iter().find_map(|event| {
        let Fact::MatchReported { match_id, attempt: 2, .. } = &event.fact else { return None };
        Some(match_id.clone())
    });
    let again = again.unwrap();
    let referee = generated.events.iter().find_map(|event| {
        let Fact::MatchAssigned { match_id, attempt: 1, referee, .. } = &event.fact else { return None };
        (*match_id == again).then(|| referee.to_string())
    });
    let path = home.match_file(&league(), &again);
    edit(&path, "/attempt", 1);
    edit(&path, "/referee_id", referee.unwrap());
    edit(&path, "/result/winner", Value::Null);
    let report = check(&home).unwrap();
    assert_eq!((report.files_different, report.files_stale), (0, 1), "{report:?}");
    assert!(report.stale[0].reason.contains("attempt 1, and attempt 2 counted"), "{report:?}");
    edit(&path, "/attempt", 77);
    assert!(finding(&home).contains("attempt is 77"), "{}", finding(&home));
}

#[test]
fn each_line_of_a_large_league_is_compared() {
    let generated = transcribed(6, 3);
    let (_directory, home, _) = kept(&generated);
    fs::remove_dir_all(home.matches(&league())).unwrap();
    let mut repair = Repair::new(home.clone(), league(), 15, ViewLimits { match_files: 3 }).unwrap();
    generated.events.iter().for_each(|event| repair.apply(event).unwrap());
    repair.finish().unwrap();
    let report = check(&home).unwrap();
    // The transcripts are nowhere.
    assert_eq!((report.files, report.files_different, report.transcripts_missing), (15, 0, 15), "{report:?}");
    let lines = home.match_lines(&league());
    let text = fs::read_to_string(&lines).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let transcript = serde_json::to_string(&[transcript_entry()]).unwrap();
    let complete = first.replace("\"transcript\":[]", &format!("\"transcript\":{transcript}"));
    // The manager adds a line when a transcript arrives.
    fs::write(&lines, format!("{text}{complete}\n")).unwrap();
    let report = check(&home).unwrap();
    assert_eq!((report.files_different, report.transcripts, report.transcripts_missing), (0, 1, 14), "{report:?}");
    for changed in [
        text.replacen("\"attempt\":1", "\"attempt\":3", 1),
        text.replacen("\"round_id\":1", "\"round_id\":2", 1),
        rest.to_owned(),
        format!("{}\n{rest}", &first[..first.len() / 2]),
        format!("{text}{}\n", complete.replace("\"X\"", "\"Y\"")),
        // An earlier line of the same match.
        format!("{}{complete}\n", text.replacen("\"round_id\":1", "\"round_id\":2", 1)),
    ] {
        fs::write(&lines, changed).unwrap();
        assert!(finding(&home).contains("matches.jsonl") || finding(&home).contains("missing"), "{}", finding(&home));
    }
}
