//! A damaged log or a damaged file.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::Value;

use crate::support::home::LEAGUE;
use crate::support::{Process, TestHome, Venue, league};

fn played() -> TestHome {
    let home = TestHome::new();
    league(&["run", "--port", "0", "--players", "4", "--home", home.path()]).well();
    // The last connection to close moves everything there.
    let database = Connection::open(home.database()).unwrap();
    database.query_row("SELECT count(*) FROM events", [], |_| Ok(())).unwrap();
    database.close().unwrap();
    home
}

/// Each command that continues or shows the league reports the damage and leaves the log unchanged.
fn is_refused(home: &TestHome, says: &str) {
    let before = fs::read(home.database()).unwrap();
    for command in ["manager", "verify", "standings", "export"] {
        let export = home.join("export.sqlite");
        let place = match command {
            "manager" => &["--home", home.path(), "--port", "0"][..],
            "export" => &["--home", home.path(), "--sqlite", export.to_str().unwrap()],
            _ => &["--home", home.path()],
        };
        let told = league(&[&[command], place].concat()).badly();
        assert!(told.contains("league.db") && told.contains(says), "{command}: {told}");
        assert!(told.contains("Keep it as it is") && told.contains("--home"), "{command} says what to do: {told}");
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
fn a_log_whose_head_was_overwritten_is_refused() {
    let home = played();
    overwrite(&home.database(), 0, 100);
    is_refused(&home, "damaged");
}

#[test]
fn a_log_with_a_page_that_was_overwritten_is_refused() {
    let home = played();
    let page: u32 = Connection::open(home.database())
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'events'", [], |row| row.get(0))
        .unwrap();
    overwrite(&home.database(), u64::from(page - 1) * 4096, 4096);
    is_refused(&home, "damaged");
}

#[test]
fn an_event_that_was_changed_is_named() {
    let home = played();
    let database = Connection::open(home.database()).unwrap();
    let changed = "UPDATE events SET body = body || ' ' WHERE seq = (SELECT min(seq) FROM events WHERE body LIKE '%match_reported%')";
    assert_eq!(database.execute(changed, []).unwrap(), 1);
    database.close().unwrap();
    is_refused(&home, "event ");
    // A new league begins without a replay of the finished ones.
    league(&["run", "--port", "0", "--players", "2", "--home", home.path()]).well();
    assert_eq!(home.tells("status")["league_id"], format!("{LEAGUE}_2"));
}

/// Two rounds are over and the manager was killed. The agents wait for it.
struct Killed {
    venue: Venue,
    _agents: Vec<Process>,
}

fn killed() -> Killed {
    let venue = Venue::patient();
    let mut manager = venue.manager_with(5, 1, &[]);
    let mut agents = vec![venue.referee("REF01")];
    agents.extend(["P01", "P02", "P03", "P04", "P05"].map(|id| venue.player(id, "slow:5")));
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let table = fs::read(table(&venue)).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        if table.is_some_and(|table| table["rounds_completed"].as_u64() >= Some(2)) {
            break;
        }
        assert!(Instant::now() < until && !manager.is_over());
        // No signal says when a file is written.
        sleep(Duration::from_millis(10));
    }
    manager.kill();
    Killed { venue, _agents: agents }
}

fn table(venue: &Venue) -> PathBuf {
    venue.home.join(&format!("data/leagues/{LEAGUE}/standings.json"))
}

fn wal(venue: &Venue) -> PathBuf {
    venue.home.join(&format!("data/leagues/{LEAGUE}/league.db-wal"))
}

#[test]
fn a_log_that_lost_its_end_is_refused_and_comes_back_with_it() {
    let Killed { venue, _agents } = killed();
    let whole = fs::read(wal(&venue)).unwrap();
    for left in [&whole[..whole.len() / 2], &[]] {
        fs::write(wal(&venue), left).unwrap();
        let told = venue.manager(5, 1).ended().badly();
        assert!(told.contains("standings.json counts") && told.contains("its end is lost"), "{told}");
        assert!(told.contains("Put the right one back"), "{told}");
    }
    // No command repaired anything meanwhile: with its end restored, the log is whole again.
    fs::write(wal(&venue), whole).unwrap();
    venue.manager(5, 1).ended().well();
    venue.home.verify(10);
}

#[test]
fn damaged_and_missing_files_are_written_again_and_that_is_said() {
    let Killed { venue, _agents } = killed();
    let matches = venue.home.join(&format!("data/matches/{LEAGUE}"));
    fs::write(table(&venue), b"{\"schema_version\":").unwrap();
    fs::write(matches.join("R1M1.json"), b"\0\0\0").unwrap();
    fs::remove_file(matches.join("R1M2.json")).unwrap();
    let told = venue.manager(5, 1).ended().well().talk;
    assert!(told.contains("standings.json was damaged or missing; it is written again"), "{told}");
    assert!(told.contains("R1M1.json was damaged"), "{told}");
    assert!(told.contains("Match files written again from the log: "), "{told}");
    venue.home.verify(10);
}
