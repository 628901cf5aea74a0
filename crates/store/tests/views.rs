//! The view files: their contents, and how they are restored.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what helps it")]

mod support;

use std::fs;
use std::path::Path;

use league_core::session::{History, PlayedMatch};
use league_protocol::id::PlayerId;
use league_protocol::message::game_over::OwnResult;
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
use smol_str::SmolStr;
use support::{Story, league, now, played, restore};

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn files(story: &Story) -> Vec<MatchFile> {
    let mut retelling = MatchReplay::default();
    story.events.iter().filter_map(|event| retelling.apply(event).unwrap()).collect()
}

#[tokio::test]
async fn every_file_has_its_version_its_id_and_its_time() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    let story = played(4, 1);
    let writer = ViewWriter::start(home.clone(), ViewLimits::default()).unwrap();
    writer.put(ViewUpdate::Standings(StandingsFile::of(&story.season, now()))).await;
    writer.put(ViewUpdate::Rounds(RoundsFile::of(&story.season, 20_000, now()))).await;
    let mut first = files(&story).remove(0);
    let message = br#"{"message_type":"GAME_JOIN_ACK","auth_token":"tok-P01-secret","accept":true}"#;
    let (granted_ms, given_up_ms) = (None, None);
    let receipt = CallReceipt {
        sent_at: now(),
        first_byte_ms: Some(3),
        last_byte_ms: Some(4),
        limit_ms: 5000,
        granted_ms,
        given_up_ms,
    };
    let between = (SmolStr::new_static("player:P01"), SmolStr::new_static("referee:REF01"));
    let word = SmolStr::new_static("GAME_JOIN_ACK");
    first.transcript.push(TranscriptEntry::new(now(), Direction::Received, between, word, message, Some(receipt)));
    let match_id = first.match_id.clone();
    writer.put(ViewUpdate::Match(Box::new(first))).await;
    let player = PlayerId::numbered(1);
    let remembered: Vec<PlayedMatch> = serde_json::from_str(
        r#"[{"match_id":"R1M1","opponent_id":"P02","result":"WIN","my_choice":"even","opponent_choice":"odd"}]"#,
    )
    .unwrap();
    assert_eq!(remembered[0].result, OwnResult::Win);
    let history: History = serde_json::from_value(serde_json::to_value(&remembered).unwrap()).unwrap();
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
    assert_eq!(
        (rounds["rounds"].as_array().unwrap().len(), &rounds["rounds"][2]["completed"]),
        (3, &Value::from(true))
    );
    assert_eq!(one["lifecycle"]["state"], "FINISHED");
    assert_eq!(one["transcript"][0]["message"]["auth_token"], "tok-P01-…");
    assert_eq!(one["transcript"][0]["receipt"]["limit_ms"], 5000);
    assert!(one["result"]["score"].is_object());
    assert_eq!(history["stats"]["wins"], 1);
    assert_eq!(history["matches"][0]["my_choice"], "even");
}

#[tokio::test]
async fn of_many_tables_the_last_one_stays() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    let story = played(4, 1);
    let writer = ViewWriter::start(home.clone(), ViewLimits::default()).unwrap();
    for version in 0..3000 {
        writer.put(ViewUpdate::Standings(StandingsFile { version, ..StandingsFile::of(&story.season, now()) })).await;
    }
    writer.flush().await.unwrap();
    assert_eq!(read(&home.standings(&league()))["version"], 2999);
}

#[tokio::test]
async fn what_cannot_be_written_is_told_once() {
    let directory = tempfile::tempdir().unwrap();
    let taken = directory.path().join("taken");
    fs::write(&taken, b"a file where a directory should be").unwrap();
    let story = played(4, 1);
    let writer = ViewWriter::start(Home::at(&taken), ViewLimits::default()).unwrap();
    for file in files(&story) {
        writer.put(ViewUpdate::Match(Box::new(file))).await;
    }
    let told = writer.flush().await.unwrap_err();
    assert!(told.path.starts_with(&taken) && told.others == 5, "{told}");
    writer.flush().await.unwrap();
}

#[test]
fn damaged_and_missing_files_come_back_and_good_ones_stay() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    let story = played(5, 2);
    let limits = ViewLimits::default();
    assert_eq!(restore(&home, &story.events, limits).written, 10);
    let mut files = files(&story);
    let (kept, damaged, missing) = (files.remove(0), files.remove(0), files.remove(0));
    let path = |file: &MatchFile| home.match_file(&league(), &file.match_id);
    let mut with_transcript = kept.clone();
    let between = (SmolStr::new_static("a"), SmolStr::new_static("b"));
    let word = SmolStr::new_static("X");
    with_transcript.transcript.push(TranscriptEntry::new(now(), Direction::Sent, between, word, b"{}", None));
    fs::write(path(&kept), serde_json::to_vec(&with_transcript).unwrap()).unwrap();
    let before = fs::read(path(&damaged)).unwrap();
    fs::write(path(&damaged), &before[..before.len() / 2]).unwrap();
    fs::remove_file(path(&missing)).unwrap();
    fs::write(home.standings(&league()), b"\0\0\0").unwrap();
    let restored = restore(&home, &story.events, limits);
    assert_eq!((restored.kept, restored.written), (8, 2));
    assert_eq!(restored.damaged, [path(&damaged), home.standings(&league())]);
    assert_eq!(fs::read(path(&damaged)).unwrap(), before);
    assert!(path(&missing).exists());
    assert_eq!(read(&path(&kept))["transcript"][0]["message_type"], "X");
    assert_eq!(read(&home.standings(&league()))["version"], 10);
}

#[tokio::test]
async fn what_a_referee_writes_while_files_are_mended_stays() {
    for match_files in [u64::MAX, 3] {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let (story, limits) = (played(4, 1), ViewLimits { match_files });
        let mut mending = Repair::begin(home.clone(), league(), 6, limits).unwrap();
        // The files are missing when the repair begins, and exist when it reaches them.
        let writer = ViewWriter::start(home.clone(), limits).unwrap();
        writer.expect(league(), story.season.total_matches()).await;
        for mut file in files(&story) {
            let between = (SmolStr::new_static("a"), SmolStr::new_static("b"));
            let word = SmolStr::new_static("X");
            file.transcript.push(TranscriptEntry::new(now(), Direction::Sent, between, word, b"{}", None));
            writer.put(ViewUpdate::Match(Box::new(file))).await;
        }
        writer.flush().await.unwrap();
        story.events.iter().for_each(|event| mending.see(event).unwrap());
        let mended = mending.end().unwrap();
        assert_eq!((mended.kept, mended.written), (6, 0));
        let first = find_match(&home, &league(), &"R1M1".parse().unwrap()).unwrap().unwrap();
        assert!(first.contains("transcript") && first.contains("\"X\""), "{first}");
    }
}

#[tokio::test]
async fn a_large_league_keeps_its_matches_in_one_file() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    let story = played(6, 3);
    let limits = ViewLimits { match_files: 10 };
    let writer = ViewWriter::start(home.clone(), limits).unwrap();
    let files = files(&story);
    writer.expect(league(), story.season.total_matches()).await;
    for file in &files {
        writer.put(ViewUpdate::Match(Box::new(file.clone()))).await;
    }
    writer.flush().await.unwrap();
    let lines = home.match_lines(&league());
    assert_eq!(fs::read_dir(home.matches(&league())).unwrap().count(), 1);
    let text = fs::read_to_string(&lines).unwrap();
    assert_eq!(text.lines().count(), 15);
    let restored = restore(&home, &story.events, limits);
    assert_eq!((restored.kept, restored.written), (15, 0));
    fs::write(&lines, &text[..text.len() - 40]).unwrap();
    let restored = restore(&home, &story.events, limits);
    assert_eq!((restored.kept, restored.written), (14, 1));
    let again = fs::read_to_string(&lines).unwrap();
    let whole = again.lines().filter(|line| serde_json::from_str::<MatchFile>(line).is_ok()).count();
    assert_eq!((again.lines().count(), whole), (16, 15));
    let found = |id: &str| find_match(&home, &league(), &id.parse().unwrap()).unwrap();
    assert_eq!(found("R1M1").as_deref(), text.lines().find(|line| line.contains("\"R1M1\"")));
    assert_eq!(found("R9M9"), None);
    let rounds = RoundsFile::of(&story.season, limits.match_files, now());
    let listed: Vec<usize> = rounds.rounds.iter().map(|round| round.matches.len()).collect();
    assert_eq!(listed, [0, 0, 0, 0, 3]);
    assert!(rounds.rounds.iter().all(|round| round.completed));
}
