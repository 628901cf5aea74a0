//! The view files: their contents, and how they are restored.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what helps it")]

mod support;

use std::fs;
use std::path::Path;

use league_core::session::History;
use league_protocol::id::PlayerId;
use league_store::home::Home;
use league_store::views::find_match::find_match;
use league_store::views::history::HistoryFile;
use league_store::views::match_file::{CallReceipt, Direction, MatchFile, TranscriptEntry};
use league_store::views::match_replay::MatchReplay;
use league_store::views::repair::Repair;
use league_store::views::replace::{ReplaceSync, replace};
use league_store::views::rounds::RoundsFile;
use league_store::views::standings::StandingsFile;
use league_store::views::writer::{ViewLimits, ViewUpdate, ViewWriter};
use serde_json::Value;
use support::{GeneratedLeague, league, now, played, restore, transcribed, transcript_entry};
use tempfile::TempDir;

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn home() -> (TempDir, Home) {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    (directory, home)
}

fn files(generated: &GeneratedLeague) -> Vec<MatchFile> {
    let mut replay = MatchReplay::default();
    let replayed = generated.events.iter().filter_map(|event| replay.apply(event).unwrap());
    replayed.map(|replayed| replayed.from_log).collect()
}

#[tokio::test]
async fn every_file_has_its_version_its_id_and_its_time() {
    let (_directory, home) = home();
    let generated = played(4, 1);
    let writer = ViewWriter::start(home.clone(), ViewLimits::default()).unwrap();
    writer.put(ViewUpdate::Standings(StandingsFile::of(&generated.season))).await;
    writer.put(ViewUpdate::Rounds(RoundsFile::of(&generated.season, 20_000))).await;
    let mut first = files(&generated).remove(0);
    let message = br#"{"message_type":"GAME_JOIN_ACK","auth_token":"tok-P01-secret","accept":true}"#;
    let (first_byte_ms, last_byte_ms, granted_ms, given_up_ms) = (Some(3), Some(4), None, None);
    let receipt = CallReceipt { sent_at: now(), first_byte_ms, last_byte_ms, limit_ms: 5000, granted_ms, given_up_ms };
    let (between, kind) = (("player:P01".into(), "referee:REF01".into()), "GAME_JOIN_ACK".into());
    first.transcript.push(TranscriptEntry::new(now(), Direction::Received, between, kind, message, Some(receipt)));
    let match_id = first.match_id.clone();
    writer.put(ViewUpdate::Match(Box::new(first))).await;
    let player = PlayerId::numbered(1);
    let played =
        r#"[{"match_id":"R1M1","opponent_id":"P02","result":"WIN","my_choice":"even","opponent_choice":"odd"}]"#;
    let history: History = serde_json::from_str(played).unwrap();
    let text = HistoryFile::of(player.clone(), history, now()).text().unwrap();
    replace(&home.history(&player), &text, ReplaceSync::Later).unwrap();
    writer.flush().await.unwrap();

    let (standings, rounds) = (read(&home.standings(&league())), read(&home.rounds(&league())));
    let (one, history) = (read(&home.match_file(&league(), &match_id)), read(&home.history(&player)));
    for (file, id) in [(&standings, "league_id"), (&rounds, "league_id"), (&one, "match_id"), (&history, "player_id")] {
        assert_eq!(file["schema_version"], "1.0.0");
        assert!(file[id].is_string(), "{id}");
        assert!(file["last_updated"].as_str().unwrap().ends_with('Z'));
    }
    assert_eq!((&standings["version"], &standings["rounds_completed"]), (&Value::from(6), &Value::from(3)));
    assert_eq!(standings["standings"][0]["rank"], 1);
    assert_eq!(rounds["rounds"].as_array().unwrap().len(), 3);
    assert_eq!(rounds["rounds"][2]["completed"], true);
    assert_eq!(one["lifecycle"]["state"], "FINISHED");
    assert_eq!(one["transcript"][0]["message"]["auth_token"], "tok-P01-…");
    assert_eq!(one["transcript"][0]["receipt"]["limit_ms"], 5000);
    assert!(one["result"]["score"].is_object());
    assert_eq!(history["stats"]["wins"], 1);
    assert_eq!(history["matches"][0]["my_choice"], "even");
}

#[tokio::test]
async fn the_last_of_many_standings_stays() {
    let (_directory, home) = home();
    let generated = played(4, 1);
    let writer = ViewWriter::start(home.clone(), ViewLimits::default()).unwrap();
    for version in 0..3000 {
        writer.put(ViewUpdate::Standings(StandingsFile { version, ..StandingsFile::of(&generated.season) })).await;
    }
    writer.flush().await.unwrap();
    assert_eq!(read(&home.standings(&league()))["version"], 2999);
}

#[tokio::test]
async fn a_flush_reports_failed_writes_once() {
    let directory = tempfile::tempdir().unwrap();
    let taken = directory.path().join("taken");
    fs::write(&taken, b"a file where a directory should be").unwrap();
    let generated = played(4, 1);
    let writer = ViewWriter::start(Home::at(&taken), ViewLimits::default()).unwrap();
    for file in files(&generated) {
        writer.put(ViewUpdate::Match(Box::new(file))).await;
    }
    let error = writer.flush().await.unwrap_err();
    assert!(error.path.starts_with(&taken) && error.others == 5, "{error}");
    writer.flush().await.unwrap();
}

#[test]
fn damaged_and_missing_files_are_restored_and_transcripts_stay() {
    let (_directory, home) = home();
    let generated = transcribed(5, 2);
    let limits = ViewLimits::default();
    assert_eq!(restore(&home, &generated.events, limits).written, 10);
    let mut files = files(&generated);
    let (kept, damaged, missing) = (files.remove(0), files.remove(0), files.remove(0));
    let path = |file: &MatchFile| home.match_file(&league(), &file.match_id);
    let mut with_transcript = kept.clone();
    with_transcript.transcript.push(transcript_entry());
    fs::write(path(&kept), serde_json::to_vec(&with_transcript).unwrap()).unwrap();
    let before = fs::read(path(&damaged)).unwrap();
    fs::write(path(&damaged), &before[..before.len() / 2]).unwrap();
    fs::remove_file(path(&missing)).unwrap();
    fs::write(home.standings(&league()), b"\0\0\0").unwrap();
    let restored = restore(&home, &generated.events, limits);
    // The file with other whitespace is written again, too, and keeps its transcript.
    assert_eq!((restored.kept, restored.written), (7, 3));
    assert_eq!(restored.damaged, [path(&damaged), home.standings(&league())]);
    assert_eq!(fs::read(path(&damaged)).unwrap(), before);
    assert!(path(&missing).exists());
    assert_eq!(read(&path(&kept))["transcript"][0]["message_type"], "X");
    assert_eq!(read(&home.standings(&league()))["version"], 10);
}

#[tokio::test]
async fn files_that_a_referee_writes_during_a_repair_stay() {
    for match_files in [u64::MAX, 3] {
        let (_directory, home) = home();
        let (generated, limits) = (transcribed(4, 1), ViewLimits { match_files });
        let mut repair = Repair::new(home.clone(), league(), 6, limits).unwrap();
        // The files are missing when the repair begins, and exist when it reaches them.
        let writer = ViewWriter::start(home.clone(), limits).unwrap();
        writer.expect(league(), generated.season.total_matches()).await;
        for mut file in files(&generated) {
            file.transcript.push(transcript_entry());
            writer.put(ViewUpdate::Match(Box::new(file))).await;
        }
        writer.flush().await.unwrap();
        generated.events.iter().for_each(|event| repair.apply(event).unwrap());
        let report = repair.finish().unwrap();
        assert_eq!((report.kept, report.written), (6, 0));
        let first = find_match(&home, &league(), &"R1M1".parse().unwrap()).unwrap().unwrap();
        assert!(first.contains("transcript") && first.contains("\"X\""), "{first}");
    }
}

#[tokio::test]
async fn a_large_league_keeps_its_matches_in_one_file() {
    let (_directory, home) = home();
    let generated = played(6, 3);
    let limits = ViewLimits { match_files: 10 };
    let writer = ViewWriter::start(home.clone(), limits).unwrap();
    let files = files(&generated);
    writer.expect(league(), generated.season.total_matches()).await;
    for file in &files {
        writer.put(ViewUpdate::Match(Box::new(file.clone()))).await;
    }
    writer.flush().await.unwrap();
    let lines = home.match_lines(&league());
    assert_eq!(fs::read_dir(home.matches(&league())).unwrap().count(), 1);
    let text = fs::read_to_string(&lines).unwrap();
    assert_eq!(text.lines().count(), 15);
    let restored = restore(&home, &generated.events, limits);
    assert_eq!((restored.kept, restored.written), (15, 0));
    fs::write(&lines, &text[..text.len() - 40]).unwrap();
    let restored = restore(&home, &generated.events, limits);
    assert_eq!((restored.kept, restored.written), (14, 1));
    let again = fs::read_to_string(&lines).unwrap();
    let whole = again.lines().filter(|line| serde_json::from_str::<MatchFile>(line).is_ok()).count();
    assert_eq!((again.lines().count(), whole), (16, 15));
    let found = |id: &str| find_match(&home, &league(), &id.parse().unwrap()).unwrap();
    assert_eq!(found("R1M1").as_deref(), text.lines().find(|line| line.contains("\"R1M1\"")));
    assert_eq!(found("R9M9"), None);
    let rounds = RoundsFile::of(&generated.season, limits.match_files);
    let listed: Vec<usize> = rounds.rounds.iter().map(|round| round.matches.len()).collect();
    assert_eq!(listed, [0, 0, 0, 0, 3]);
    assert!(rounds.rounds.iter().all(|round| round.completed));
}
