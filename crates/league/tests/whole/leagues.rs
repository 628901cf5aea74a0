//! `league run`: whole leagues in one process.

use std::fs;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::home::LEAGUE;
use crate::support::{TestHome, assert_played, read_json};

fn play(home: &TestHome, more: &[&str]) -> Vec<Value> {
    home.run(&[&["--json"], more].concat()).json().as_array().unwrap().clone()
}

fn holds_a_token(text: &str) -> bool {
    let secret = |rest: &str| rest.split_once('-').is_some_and(|(_, secret)| secret.starts_with(char::is_alphanumeric));
    text.match_indices("tok-").any(|(at, found)| secret(&text[at + found.len()..]))
}

#[test]
fn the_default_league_is_played_and_its_files_hold_no_secret() {
    let home = TestHome::new();
    let standings = play(&home, &[]);
    assert_eq!(standings.len(), 4);
    for row in &standings {
        assert_eq!(row["played"], 3, "{row}");
        let count = |key: &str| row[key].as_u64().unwrap();
        assert_eq!(count("points"), 3 * count("wins") + count("draws"), "{row}");
        assert_eq!(count("played"), count("wins") + count("draws") + count("losses"), "{row}");
    }
    home.verify(6);
    let matches: Vec<_> =
        home.list("schedule").iter().map(|round| round["matches"].as_array().unwrap().len()).collect();
    assert_eq!(matches, [2, 2, 2]);
    assert_eq!(home.list("agents").len(), 6);
    let report = home.json("verify");
    assert_eq!((&report["draws_proved"], &report["files"]), (&json!(6), &json!(6)), "{report}");

    let league = ["standings", "rounds"].map(|name| format!("data/leagues/{LEAGUE}/{name}.json"));
    let matches = ["R1M1", "R1M2", "R2M1", "R2M2", "R3M1", "R3M2"].map(|id| format!("data/matches/{LEAGUE}/{id}.json"));
    let players = ["P01", "P02", "P03", "P04"].map(|id| format!("data/players/{id}/history.json"));
    for file in league.iter().chain(&matches).chain(&players) {
        let contents = read_json(&home.join(file));
        assert!(contents["schema_version"].is_string() && contents["last_updated"].is_string(), "{file}: {contents}");
    }
    for path in home.files() {
        assert!(!holds_a_token(&String::from_utf8_lossy(&fs::read(&path).unwrap())), "{}", path.display());
    }
    assert!(holds_a_token("\"tok-p01-Zm9v\"") && !holds_a_token("\"tok-p01-…\""));
}

#[test]
fn two_players_and_odd_numbers_of_players_meet_once_each() {
    for (players, matches, rounds) in [(2_usize, 1, 1), (3, 3, 3), (5, 10, 5)] {
        let home = TestHome::new();
        let standings = play(&home, &["--players", &players.to_string()]);
        assert_eq!(standings.len(), players);
        assert_played(&standings.into(), players - 1);
        home.verify(matches);
        let schedule = home.list("schedule");
        assert_eq!(schedule.len(), rounds);
        let mut resting: Vec<&str> = schedule.iter().filter_map(|round| round["bye"].as_str()).collect();
        resting.sort_unstable();
        resting.dedup();
        let expected = if players.is_multiple_of(2) { 0 } else { players };
        assert_eq!(resting.len(), expected, "every player rests once: {schedule:?}");
    }
}

#[test]
fn a_seed_gives_the_same_league_with_any_number_of_referees() {
    let leagues = ["1", "2", "8"].map(|referees| {
        let home = TestHome::new();
        let standings = play(&home, &["--players", "8", "--seed", "7", "--referees", referees]);
        home.verify(28);
        let matches = home.list("matches");
        let ids = matches.iter().map(|game| game["match_id"].as_str().unwrap());
        let results: Vec<Value> = ids.map(|id| home.match_file(id)["result"].clone()).collect();
        assert!(results.iter().all(Value::is_object));
        (standings, matches, results)
    });
    assert_eq!(leagues[0], leagues[1]);
    assert_eq!(leagues[0], leagues[2]);
    assert_ne!(leagues[0].0, play(&TestHome::new(), &["--players", "8", "--seed", "8"]));
}

#[test]
fn a_league_is_exported_as_tables() {
    let home = TestHome::new();
    let standings = play(&home, &["--players", "5"]);
    let file = home.join("league.sqlite");
    let arguments = ["export", "--sqlite", file.to_str().unwrap()];
    home.league(&arguments).success();
    let tables = Connection::open(&file).unwrap();
    let count = |query: &str| tables.query_row(query, [], |row| row.get::<_, u32>(0)).unwrap();
    for (table, rows) in [("players", 5), ("referees", 2), ("rounds", 5), ("matches", 10), ("results", 20)] {
        assert_eq!(count(&format!("SELECT count(*) FROM {table}")), rows, "{table}");
    }
    assert_eq!(count("SELECT count(*) FROM league WHERE status = 'LEAGUE_COMPLETED' AND current_round = 5"), 1);
    assert_eq!(count("SELECT count(*) FROM events WHERE kind = 'match_reported'"), 10);
    assert_eq!(count("SELECT max(seq) FROM events"), home.json("verify")["events"]);
    assert_eq!(count("SELECT count(*) FROM matches WHERE status = 'COMPLETED' AND drawn_number IS NOT NULL"), 10);
    // The results add up to the table.
    let sums = "SELECT s.player_id, s.points, sum(r.points), s.wins, sum(r.result = 'win') FROM standings s
        JOIN results r USING (player_id) GROUP BY s.player_id ORDER BY s.rank, s.player_id";
    let mut rows = tables.prepare(sums).unwrap();
    let rows = rows.query_map([], |row| {
        let number = |column| row.get::<_, u32>(column).unwrap();
        assert_eq!((number(1), number(3)), (number(2), number(4)));
        Ok((json!(row.get::<_, String>(0)?), json!(number(1))))
    });
    let exported: Vec<(Value, Value)> = rows.unwrap().map(Result::unwrap).collect();
    let shown: Vec<_> = standings.iter().map(|row| (row["player_id"].clone(), row["points"].clone())).collect();
    assert_eq!(exported, shown);
    assert!(!holds_a_token(&String::from_utf8_lossy(&fs::read(&file).unwrap())));
    assert_eq!(count("SELECT count(*) FROM events WHERE fact LIKE '%digest%'"), 0);
    home.league(&arguments).fails_with(&["league.sqlite is there already; name another file"]);
}
