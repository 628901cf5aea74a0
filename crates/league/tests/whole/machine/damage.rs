//! A damaged log or a damaged file.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::Value;

use crate::support::home::LEAGUE;
use crate::support::{Process, TestHome, Venue, assert_contains, poll};

fn played() -> TestHome {
    let home = TestHome::new();
    home.run(&[]);
    // The last connection to close moves everything there.
    let database = Connection::open(home.database()).unwrap();
    database.query_row("SELECT count(*) FROM events", [], |_| Ok(())).unwrap();
    database.close().unwrap();
    home
}

/// Each command that continues or shows the league reports the damage and leaves the log unchanged.
fn expect_refused(home: &TestHome, damage: &str) {
    let before = fs::read(home.database()).unwrap();
    let export = home.join("export.sqlite");
    let export = ["export", "--sqlite", export.to_str().unwrap()];
    for command in [&["manager", "--port", "0"][..], &["verify"], &["standings"], &export] {
        home.league(command).fails_with(&["league.db", damage, "Keep it as it is", "--home"]);
    }
    assert_eq!(fs::read(home.database()).unwrap(), before);
    assert!(!home.files().iter().any(|path| path.to_str().unwrap().contains("export.sqlite")), "no half of an export");
}

fn overwrite(path: &Path, at: u64, length: usize) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&vec![0xA5; length]).unwrap();
}

#[test]
fn a_log_with_an_overwritten_head_or_page_is_refused() {
    let home = played();
    let page: u32 = Connection::open(home.database())
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'events'", [], |row| row.get(0))
        .unwrap();
    let whole = fs::read(home.database()).unwrap();
    for (offset, length) in [(0, 100), (u64::from(page - 1) * 4096, 4096)] {
        fs::write(home.database(), &whole).unwrap();
        overwrite(&home.database(), offset, length);
        expect_refused(&home, "damaged");
    }
}

#[test]
fn a_changed_event_is_named() {
    let home = played();
    let database = Connection::open(home.database()).unwrap();
    let changed = "UPDATE events SET body = body || ' ' WHERE seq = (SELECT min(seq) FROM events WHERE body LIKE '%match_reported%')";
    assert_eq!(database.execute(changed, []).unwrap(), 1);
    database.close().unwrap();
    expect_refused(&home, "event ");
    // A new league begins without a replay of the finished ones.
    home.run(&["--players", "2"]);
    assert_eq!(home.json("status")["league_id"], format!("{LEAGUE}_2"));
}

/// Two rounds are over and the manager was killed. The agents wait for it.
fn killed() -> (Venue, Vec<Process>) {
    let venue = Venue::patient();
    let mut manager = venue.manager_with(5, 1, &[]);
    let mut agents = vec![venue.referee("REF01")];
    agents.extend(["P01", "P02", "P03", "P04", "P05"].map(|id| venue.player(id, "slow:5")));
    manager.wait_for_line("Round 3 of 5 begins.");
    // No signal tells when the files of the second round are written.
    poll("two rounds in the table", || {
        let table: Value = serde_json::from_slice(&fs::read(table(&venue)).ok()?).ok()?;
        (table["rounds_completed"].as_u64() >= Some(2)).then_some(())
    });
    manager.kill();
    (venue, agents)
}

fn table(venue: &Venue) -> PathBuf {
    venue.home.join(&format!("data/leagues/{LEAGUE}/standings.json"))
}

fn wal(venue: &Venue) -> PathBuf {
    venue.home.join(&format!("data/leagues/{LEAGUE}/league.db-wal"))
}

#[test]
fn a_log_that_lost_its_end_is_refused_until_the_end_is_restored() {
    let (venue, _agents) = killed();
    let whole = fs::read(wal(&venue)).unwrap();
    for left in [&whole[..whole.len() / 2], &[]] {
        fs::write(wal(&venue), left).unwrap();
        let parts = ["standings.json counts", "its end is lost", "Put the right one back"];
        venue.manager(5, 1).wait().fails_with(&parts);
    }
    // No command repaired anything meanwhile: with its end restored, the log is whole again.
    fs::write(wal(&venue), whole).unwrap();
    venue.manager(5, 1).wait().success();
    venue.home.verify(10);
}

#[test]
fn damaged_and_missing_files_are_written_again_and_reported() {
    let (venue, _agents) = killed();
    fs::write(table(&venue), b"{\"schema_version\":").unwrap();
    fs::write(venue.home.match_path("R1M1"), b"\0\0\0").unwrap();
    fs::remove_file(venue.home.match_path("R1M2")).unwrap();
    let rewritten = "standings.json was damaged or missing; it is written again";
    assert_contains(
        &venue.manager(5, 1).wait().success().stderr,
        &[rewritten, "R1M1.json was damaged", "Match files written again from the log: "],
    );
    // The log has everything but the transcripts of the two matches.
    let exit = venue.home.league(&["verify"]);
    assert_eq!(exit.code, Some(3), "{}", exit.stderr);
    assert_contains(&exit.stderr, &["the transcript of R1M1 has not arrived, or is lost", "the transcript of R1M2"]);
    assert!(!exit.stderr.contains("does not agree"), "{}", exit.stderr);
}
