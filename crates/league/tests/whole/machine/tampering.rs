//! `league verify` finds each change of a home. Each case changes a copy of the home of one finished league.

use std::fs;
use std::path::{Path, PathBuf};

use league_core::season::Season;
use league_store::home::Home;
use league_store::log::EventLog;
use league_store::verify::verify;
use league_store::views::restore::restore_tables;
use league_store::views::writer::ViewLimits;
use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use serde_json::{Value, json};

use crate::support::home::{LEAGUE, read_json};
use crate::support::{TestHome, assert_contains, league};

/// A finished league whose referee and players use the manager's home.
fn played() -> TestHome {
    let home = TestHome::new();
    home.run(&["--players", "4"]);
    merge_log(&home.database());
    home
}

/// Moves everything into the file: the last connection to close removes the files beside it.
fn merge_log(database: &Path) {
    let connection = Connection::open(database).unwrap();
    connection.query_row("SELECT count(*) FROM events", [], |_| Ok(())).unwrap();
    connection.close().unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

fn copy_of(home: &TestHome) -> TestHome {
    let copied = TestHome::below("home");
    copy(Path::new(home.path()), Path::new(copied.path()));
    copied
}

fn path(home: &TestHome, name: &str) -> PathBuf {
    match name {
        "standings.json" | "rounds.json" | "home.mark" | "manager.lock" => {
            home.join(&format!("data/leagues/{LEAGUE}/{name}"))
        }
        "history.json" | "keys.json" => home.join(&format!("data/players/P01/{name}")),
        "agents_config.json" => home.join("config/agents/agents_config.json"),
        "home.json" => home.join(name),
        match_id => home.match_path(match_id),
    }
}

/// Replaces a value, and writes the file in the same layout.
fn set(home: &TestHome, name: &str, pointer: &str, value: Value) {
    edit(home, name, |document| *document.pointer_mut(pointer).unwrap() = value);
}

fn edit(home: &TestHome, name: &str, change: impl FnOnce(&mut Value)) {
    let path = path(home, name);
    let mut document = read_json(&path);
    change(&mut document);
    fs::write(path, format!("{}\n", serde_json::to_string_pretty(&document).unwrap())).unwrap();
}

fn sql(home: &TestHome, statements: &str) {
    let connection = Connection::open(home.database()).unwrap();
    connection.execute_batch(statements).unwrap();
    connection.close().unwrap();
}

/// Changes the text of the first event of this kind.
fn change_event(home: &TestHome, kind: &str, from: &str, to: &str) {
    let first = format!("(SELECT min(seq) FROM events WHERE body LIKE '%\"{kind}\"%')");
    sql(home, &format!("UPDATE events SET body = replace(body, '{from}', '{to}') WHERE seq = {first}"));
}

fn swap_columns(home: &TestHome, columns: &str) {
    let results = "SELECT min(seq) AS one, max(seq) AS other FROM events WHERE body LIKE '%match_reported%'";
    sql(
        home,
        &format!(
            "CREATE TEMP TABLE pair AS {results};
         CREATE TEMP TABLE kept AS SELECT seq, body, hash FROM events;
         UPDATE events SET ({columns}) = (SELECT {columns} FROM kept WHERE seq = (SELECT other FROM pair))
            WHERE seq = (SELECT one FROM pair);
         UPDATE events SET ({columns}) = (SELECT {columns} FROM kept WHERE seq = (SELECT one FROM pair))
            WHERE seq = (SELECT other FROM pair);"
        ),
    );
}

fn other_winner(file: &Value) -> Value {
    let players = [&file["player_A_id"], &file["player_B_id"]];
    let other = players.into_iter().find(|player| **player != file["result"]["winner"]);
    other.unwrap().clone()
}

fn forge_winner(home: &TestHome) {
    edit(home, "R1M1", |file| file["result"]["winner"] = other_winner(file));
}

/// Replaces a word in the first message of the transcript that has it.
fn change_transcript(home: &TestHome, from: &str, to: &str) {
    let path = path(home, "R1M1");
    let text = fs::read_to_string(&path).unwrap();
    let (head, transcript) = text.split_once("\"transcript\"").unwrap();
    assert!(transcript.contains(from), "{from}");
    fs::write(&path, format!("{head}\"transcript\"{}", transcript.replacen(from, to, 1))).unwrap();
}

fn truncate(path: &Path) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}

type Tamper = fn(&TestHome);

/// What is changed, how, and what `league verify` says about it.
const CASES: &[(&str, Tamper, &[&str])] = &[
    // The log.
    (
        "an event's text",
        |home| change_event(home, "match_reported", "match_id", "match_no"),
        &["league.db", "was changed"],
    ),
    ("an event's time", |home| change_event(home, "match_reported", "\"at\":\"20", "\"at\":\"19"), &["was changed"]),
    ("an event's kind", |home| change_event(home, "registration_closed", "closed", "reopened"), &["was changed"]),
    ("an event's hash", |home| sql(home, "UPDATE events SET hash = zeroblob(32) WHERE seq = 9"), &["hash of event 9"]),
    ("the order of events", |home| swap_columns(home, "body, hash"), &["out of order"]),
    ("two results", |home| swap_columns(home, "body"), &["league.db", "event"]),
    ("a gap", |home| sql(home, "DELETE FROM events WHERE seq = 7"), &["event 7 is missing"]),
    ("the end", |home| sql(home, "DELETE FROM events WHERE seq > 20"), &["standings.json", "events is", "at most 20"]),
    (
        "the last event",
        |home| sql(home, "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)"),
        &["events is"],
    ),
    (
        "an event more",
        |home| sql(home, "INSERT INTO events SELECT seq + 1, body, hash FROM events ORDER BY seq DESC LIMIT 1"),
        &["event"],
    ),
    (
        "an event before the first",
        |home| sql(home, "INSERT INTO events SELECT 0, body, hash FROM events LIMIT 1"),
        &["event 1"],
    ),
    ("all events", |home| sql(home, "DELETE FROM events"), &["event 1"]),
    ("a table more", |home| sql(home, "CREATE TABLE matches (winner TEXT)"), &["the table \"matches\""]),
    ("a view more", |home| sql(home, "CREATE VIEW standings AS SELECT 1 AS points"), &["the view \"standings\""]),
    ("an index more", |home| sql(home, "CREATE INDEX bodies ON events (body)"), &["the index \"bodies\""]),
    (
        "a trigger",
        |home| sql(home, "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END"),
        &["the trigger \"t\""],
    ),
    ("a column more", |home| sql(home, "ALTER TABLE events ADD COLUMN note TEXT"), &["note TEXT"]),
    ("the table of events", |home| sql(home, "ALTER TABLE events RENAME TO gone"), &["league.db", "\"gone\""]),
    ("the format", |home| sql(home, "PRAGMA user_version = 3"), &["newer version"]),
    ("an application id", |home| sql(home, "PRAGMA application_id = 5"), &["application id is 5"]),
    ("a truncated log", |home| truncate(&home.database()), &["league.db"]),
    ("an emptied log", |home| fs::write(home.database(), b"").unwrap(), &["event 1"]),
    // Match files.
    ("a winner", forge_winner, &["R1M1.json", "result.winner is"]),
    (
        "a winner and the attempt",
        |home| {
            forge_winner(home);
            set(home, "R1M1", "/attempt", json!(2));
        },
        &["R1M1.json", "attempt is 2, expected 1"],
    ),
    ("a number", |home| set(home, "R1M1", "/result/details/drawn_number", json!(99)), &["drawn_number is 99"]),
    ("a secret", |home| set(home, "R1M1", "/draw/secret", json!("ab".repeat(32))), &["draw.secret"]),
    ("a score", |home| set(home, "R1M1", "/result/score", json!({ "P01": 9, "P02": 9 })), &["result.score"]),
    (
        "a reason",
        |home| set(home, "R1M1", "/result/details/reason", json!("luck")),
        &["result.details.reason is \"luck\""],
    ),
    ("no result", |home| set(home, "R1M1", "/result", Value::Null), &["result is null"]),
    ("a player", |home| set(home, "R1M1", "/player_A_id", json!("P09")), &["player_A_id is \"P09\""]),
    ("a referee", |home| set(home, "R1M1", "/referee_id", json!("REF09")), &["referee_id is \"REF09\""]),
    ("answer times", |home| set(home, "R1M1", "/times", json!({})), &["R1M1.json", "times"]),
    (
        "the end of a match",
        |home| set(home, "R1M1", "/lifecycle/finished", json!("2030-01-01T00:00:00Z")),
        &["lifecycle.finished is"],
    ),
    (
        "an unknown field",
        |home| {
            let text = fs::read_to_string(path(home, "R1M1")).unwrap();
            fs::write(path(home, "R1M1"), text.replacen('{', "{\n  \"note\": \"bribed\",", 1)).unwrap();
        },
        &["note is \"bribed\", expected missing"],
    ),
    (
        "a choice in a transcript",
        |home| change_transcript(home, "parity_choice", "parity_chance"),
        &["the transcript of R1M1", "SHA-256"],
    ),
    ("a time in a transcript", |home| change_transcript(home, "_ms\": ", "_ms\": 1"), &["the transcript of R1M1"]),
    (
        "a message in a transcript",
        |home| edit(home, "R1M1", |file| drop(file["transcript"].as_array_mut().unwrap().remove(2))),
        &["the transcript of R1M1"],
    ),
    (
        "a transcript and its hash",
        |home| {
            change_transcript(home, "GAME_INVITATION", "GAME_INVITETION");
            set(home, "R1M1", "/transcript_sha256", json!("ab".repeat(32)));
        },
        &["transcript_sha256 is"],
    ),
    ("a truncated match file", |home| truncate(&path(home, "R1M1")), &["R1M1.json", "damaged"]),
    ("a deleted match file", |home| fs::remove_file(path(home, "R1M1")).unwrap(), &["R1M1.json", "is missing"]),
    ("a deleted lock", |home| fs::remove_file(path(home, "manager.lock")).unwrap(), &["manager.lock", "missing"]),
    ("a deleted mark", |home| fs::remove_file(path(home, "home.mark")).unwrap(), &["home.mark", "missing"]),
    (
        "all match files deleted",
        |home| fs::remove_dir_all(home.join("data/matches")).unwrap(),
        &["R1M1.json", "R3M2.json", "is missing"],
    ),
    (
        "two match files swapped",
        |home| {
            let [one, other] = ["R1M1", "R1M2"].map(|name| path(home, name));
            let bytes = [&one, &other].map(|path| fs::read(path).unwrap());
            fs::write(one, &bytes[1]).unwrap();
            fs::write(other, &bytes[0]).unwrap();
        },
        &["R1M1.json", "R1M2.json", "damaged, or no match file"],
    ),
    (
        "a match file more",
        |home| {
            fs::copy(path(home, "R1M1"), path(home, "R9M9")).unwrap();
            set(home, "R9M9", "/match_id", json!("R9M9"));
        },
        &["R9M9.json", "no such match"],
    ),
    (
        "a file more among match files",
        |home| fs::write(home.join(&format!("data/matches/{LEAGUE}/R1M1.bak")), "").unwrap(),
        &["R1M1.bak"],
    ),
    // Tables.
    ("points", |home| set(home, "standings.json", "/standings/1/points", json!(99)), &["standings[1].points is 99"]),
    (
        "points of another version",
        |home| {
            set(home, "standings.json", "/version", json!(0));
            set(home, "standings.json", "/standings/0/points", json!(0));
        },
        &["standings.json"],
    ),
    (
        "points of another state",
        |home| {
            set(home, "standings.json", "/events", json!(3));
            set(home, "standings.json", "/standings/0/points", json!(0));
        },
        &["standings.json"],
    ),
    (
        "a display name",
        |home| set(home, "standings.json", "/standings/0/display_name", json!("Champion")),
        &["display_name is \"Champion\""],
    ),
    (
        "the time of a table",
        |home| set(home, "standings.json", "/last_updated", json!("2030-01-01T00:00:00Z")),
        &["last_updated"],
    ),
    ("no standings", |home| fs::remove_file(path(home, "standings.json")).unwrap(), &["standings.json", "is missing"]),
    ("truncated standings", |home| truncate(&path(home, "standings.json")), &["standings.json", "unreadable"]),
    (
        "a winner in the rounds",
        |home| set(home, "rounds.json", "/rounds/0/matches/0/winner", json!("P09")),
        &["rounds.json", "rounds[0].matches[0]"],
    ),
    (
        "a pairing in the rounds",
        |home| set(home, "rounds.json", "/rounds/0/matches/0/player_A_id", json!("P09")),
        &["rounds.json", "rounds[0].matches[0]"],
    ),
    ("no rounds", |home| fs::remove_file(path(home, "rounds.json")).unwrap(), &["rounds.json", "is missing"]),
    // Other files.
    (
        "a result in a history",
        |home| {
            edit(home, "history.json", |file| {
                let result = &mut file["matches"][0]["result"];
                *result = json!(if *result == "WIN" { "LOSS" } else { "WIN" });
            });
        },
        &["P01/history.json"],
    ),
    ("points in a history", |home| set(home, "history.json", "/matches/0/points", json!(77)), &["points of", "is 77"]),
    ("a sum in a history", |home| set(home, "history.json", "/stats/wins", json!(77)), &["stats is"]),
    (
        "a match less in a history",
        |home| edit(home, "history.json", |file| drop(file["matches"].as_array_mut().unwrap().remove(0))),
        &["stats is"],
    ),
    ("a truncated history", |home| truncate(&path(home, "history.json")), &["history.json", "unreadable"]),
    (
        "the time of a history",
        |home| set(home, "history.json", "/last_updated", json!("2030-01-01T00:00:00Z")),
        &["history.json", "sha256"],
    ),
    (
        "a player's address",
        |home| set(home, "agents_config.json", "/players/0/default_endpoint", json!("http://evil.example/mcp")),
        &["players[0].default_endpoint is \"http://evil.example/mcp\""],
    ),
    (
        "the manager's address",
        |home| set(home, "agents_config.json", "/league_manager/endpoint", json!("http://evil.example/mcp")),
        &["agents_config.json", "sha256"],
    ),
    (
        "the mark of an entry",
        |home| set(home, "agents_config.json", "/players/0/written_by", json!("me")),
        &["agents_config.json", "sha256"],
    ),
    (
        "an agent less",
        |home| edit(home, "agents_config.json", |file| drop(file["players"].as_array_mut().unwrap().remove(0))),
        &["agents_config.json", "sha256"],
    ),
    (
        "no register",
        |home| fs::remove_file(path(home, "agents_config.json")).unwrap(),
        &["agents_config.json", "is missing"],
    ),
    (
        "the version of a home",
        |home| set(home, "home.json", "/league_version", json!("0.2.9")),
        &["home.json", "sha256"],
    ),
    ("the keys of a player", |home| set(home, "keys.json", "/token_digests", json!([])), &["keys.json", "sha256"]),
    ("the mark of a home", |home| fs::write(path(home, "home.mark"), "0".repeat(40)).unwrap(), &["home.mark"]),
    ("the text of a lock", |home| set(home, "manager.lock", "/pid", json!(1)), &["manager.lock", "sha256"]),
    (
        "a file more",
        |home| fs::write(home.join(&format!("data/leagues/{LEAGUE}/standings.txt")), "P01").unwrap(),
        &["standings.txt"],
    ),
];

#[test]
fn verify_finds_and_names_each_kind_of_change() {
    let home = played();
    home.verify(6);
    let mut missed = Vec::new();
    for (what, tamper, parts) in CASES {
        let changed = copy_of(&home);
        tamper(&changed);
        let exit = changed.league(&["verify"]);
        if exit.code != Some(1) || !parts.iter().all(|part| exit.stderr.contains(part)) {
            missed.push(format!("{what}: exit {:?}, expected {parts:?} in {}", exit.code, exit.stderr));
        }
    }
    assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), CASES.len());
}

#[test]
fn a_rewritten_log_is_found_by_its_head() {
    let [one, other] = [played(), played()];
    let head = one.json("verify")["head"].as_str().unwrap().to_owned();
    one.league(&["verify", "--head", &head]).success();
    other.league(&["verify", "--head", &head]).fails_with(&["the log was"]);
}

/// Writes the tables as they were after `events` events.
fn set_back(home: &TestHome, events: usize) {
    let store = Home::at(home.path());
    let log = store.log(&LEAGUE.parse().unwrap());
    let events: Vec<_> = log.read(0, events).unwrap().into_iter().map(|(_, event)| event).collect();
    restore_tables(&store, &Season::replay(&events).unwrap(), ViewLimits::default()).unwrap();
}

#[test]
fn files_of_an_earlier_state_are_stale_and_are_written_again() {
    let home = played();
    let tables = ["standings.json", "rounds.json"];
    let before = tables.map(|name| read_json(&path(&home, name))["rounds_completed"].clone());
    set_back(&home, 20);
    let text = fs::read_to_string(path(&home, "R1M1")).unwrap();
    fs::write(path(&home, "R1M1"), text.replacen("  ", "\t", 1)).unwrap();
    let stale = home.league(&["verify"]);
    assert_eq!(stale.code, Some(3), "{}", stale.stderr);
    assert_contains(
        &stale.stderr,
        &["standings.json is stale: it shows 20 of", "rounds.json is stale", "R1M1.json is stale", "--repair"],
    );
    home.league(&["verify", "--repair"]).success();
    home.verify(6);
    assert_eq!(tables.map(|name| read_json(&path(&home, name))["rounds_completed"].clone()), before);
    assert_eq!(fs::read_to_string(path(&home, "R1M1")).unwrap(), text, "with its transcript");
}

#[test]
fn repair_writes_missing_files_and_leaves_changed_ones() {
    let home = played();
    forge_winner(&home);
    for name in ["R1M2", "standings.json", "agents_config.json"] {
        fs::remove_file(path(&home, name)).unwrap();
    }
    let forged = fs::read(path(&home, "R1M1")).unwrap();
    home.league(&["verify", "--repair"])
        .fails_with(&["R1M1.json does not agree", "R1M2.json is stale: the transcript of R1M2"]);
    assert_eq!(fs::read(path(&home, "R1M1")).unwrap(), forged, "it is evidence");
    assert_eq!(home.match_file("R1M2")["result"]["score"].as_object().unwrap().len(), 2);
    fs::remove_file(path(&home, "R1M1")).unwrap();
    let exit = home.league(&["verify", "--repair"]);
    assert_eq!(exit.code, Some(3), "only the transcripts are lost: {}", exit.stderr);
}

#[test]
fn a_home_in_use_is_not_repaired() {
    let home = TestHome::new();
    home.run(&["--players", "2"]);
    let mut manager = home.start(&["manager", "--port", "0", "--league-id", LEAGUE]);
    manager.address();
    set_back(&home, 5);
    home.league(&["verify", "--league-id", LEAGUE, "--repair"]).fails_with(&["is held by process"]);
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % bound as u64).unwrap()
    }
}

/// All rows and definitions, with their types; `None` if SQLite cannot read them.
fn dump(database: &Path) -> Option<Vec<Vec<Cell>>> {
    let connection = Connection::open(database).ok()?;
    let mut rows = Vec::new();
    for (question, columns) in [
        ("SELECT type, name, sql FROM sqlite_schema", 3),
        ("SELECT seq, body, hash FROM events", 3),
        ("PRAGMA user_version", 1),
    ] {
        let mut statement = connection.prepare(question).ok()?;
        let mut found = statement.query([]).ok()?;
        while let Some(row) = found.next().ok()? {
            rows.push((0..columns).map(|column| row.get(column)).collect::<Result<Vec<Cell>, _>>().ok()?);
        }
    }
    Some(rows)
}

fn change_row(random: &mut Random, database: &Path, events: usize) -> String {
    let seq = 1 + random.below(events);
    let byte = random.below(30);
    let rest = byte + 2;
    let change = match random.below(5) {
        0 => format!("DELETE FROM events WHERE seq = {seq}"),
        1 => format!("UPDATE events SET seq = seq + {} WHERE seq = {seq}", events + 1),
        // SQLite joins bytes to a text, which the table refuses for a hash.
        2 => format!(
            "UPDATE events SET hash = CAST(substr(hash, 1, {byte}) || x'00' || substr(hash, {rest}) AS BLOB) \
             WHERE seq = {seq}"
        ),
        3 => {
            format!("UPDATE events SET body = substr(body, 1, {byte}) || '~' || substr(body, {rest}) WHERE seq = {seq}")
        }
        _ => format!("INSERT INTO events SELECT {}, body, hash FROM events WHERE seq = {seq}", events + 1),
    };
    let connection = Connection::open(database).unwrap();
    connection.execute_batch(&change).unwrap();
    connection.close().unwrap();
    change
}

/// A change in a part of the database file that SQLite does not use changes nothing. Every other change is found.
#[test]
fn a_thousand_random_changes_are_found_or_change_nothing() {
    let home = played();
    let store = Home::at(home.path());
    let league_id = LEAGUE.parse().unwrap();
    let database = home.database();
    let rows = dump(&database).unwrap();
    let events = rows.len() - 2;
    merge_log(&database);
    let logs = home.join("logs");
    let files: Vec<PathBuf> = home.files().into_iter().filter(|path| !path.starts_with(&logs)).collect();
    let (mut random, mut unchanged) = (Random(18), 0);
    for number in 0..1_000 {
        let file = match number % 3 {
            0 => files[random.below(files.len())].clone(),
            _ => database.clone(),
        };
        let before = fs::read(&file).unwrap();
        let what = if number % 3 == 1 {
            change_row(&mut random, &database, events)
        } else {
            let (place, change) = (random.below(before.len()), 1 + random.below(255));
            let mut bytes = before.clone();
            bytes[place] ^= u8::try_from(change).unwrap();
            fs::write(&file, bytes).unwrap();
            format!("byte {place} of {} ^ {change}", file.display())
        };
        let is_found = verify(&store, &league_id, None)
            .map_or(true, |report| report.files_different > 0 || report.files_stale > 0);
        if !is_found {
            assert!(
                file == database && dump(&database).as_ref() == Some(&rows),
                "change {number} is not found: {what}"
            );
            unchanged += 1;
        }
        if number % 50 == 0 && !file.ends_with("home.json") {
            let code = league(&["verify", "--home", home.path()]).code;
            assert_eq!(code != Some(0), is_found, "{what}");
        }
        fs::write(&file, before).unwrap();
        for beside in ["league.db-wal", "league.db-shm"] {
            let _ = fs::remove_file(database.with_file_name(beside));
        }
    }
    home.verify(6);
    assert!(unchanged < 300, "{unchanged}");
    eprintln!("{unchanged} of 1000 changes left the log as it was; all others were found");
}
