//! `league run`: whole leagues in one process.

use std::fs;

use rusqlite::Connection;
use serde_json::Value;

use crate::support::home::LEAGUE;
use crate::support::{TestHome, league};

fn play(home: &TestHome, more: &[&str]) -> String {
    let mut arguments = vec!["run", "--port", "0", "--home", home.path(), "--json"];
    arguments.extend(more);
    league(&arguments).well().out
}

fn holds_a_token(text: &str) -> bool {
    let secret = |rest: &str| rest.split_once('-').is_some_and(|(_, secret)| secret.starts_with(char::is_alphanumeric));
    text.match_indices("tok-").any(|(at, found)| secret(&text[at + found.len()..]))
}

#[test]
fn the_default_league_is_played_and_kept() {
    let home = TestHome::new();
    let standings: Vec<Value> = serde_json::from_str(&play(&home, &[])).unwrap();
    assert_eq!(standings.len(), 4);
    for row in &standings {
        assert_eq!(row["played"], 3, "{row}");
        let count = |key: &str| row[key].as_u64().unwrap();
        assert_eq!(count("points"), 3 * count("wins") + count("draws"), "{row}");
        assert_eq!(count("played"), count("wins") + count("draws") + count("losses"), "{row}");
    }
    home.verify(6);
    let rounds = home.tells("schedule");
    assert_eq!(rounds.as_array().unwrap().len(), 3);
    assert_eq!(
        rounds.as_array().unwrap().iter().map(|round| round["matches"].as_array().unwrap().len()).sum::<usize>(),
        6
    );
    assert_eq!(home.tells("agents").as_array().unwrap().len(), 6);
    let report = home.tells("verify");
    assert_eq!((&report["draws_proved"], &report["files"]), (&Value::from(6), &Value::from(6)), "{report}");
}

#[test]
fn the_files_of_the_profile_are_there_and_hold_nothing_secret() {
    let home = TestHome::new();
    play(&home, &[]);
    let league = ["standings", "rounds"].map(|name| format!("data/leagues/{LEAGUE}/{name}.json"));
    let matches = ["R1M1", "R1M2", "R2M1", "R2M2", "R3M1", "R3M2"].map(|id| format!("data/matches/{LEAGUE}/{id}.json"));
    let players = ["P01", "P02", "P03", "P04"].map(|id| format!("data/players/{id}/history.json"));
    for file in league.iter().chain(&matches).chain(&players) {
        let kept: Value = serde_json::from_slice(&fs::read(home.join(file)).unwrap()).unwrap();
        assert!(kept["schema_version"].is_string() && kept["last_updated"].is_string(), "{file}: {kept}");
    }
    for path in home.files() {
        let bytes = fs::read(&path).unwrap();
        assert!(!holds_a_token(&String::from_utf8_lossy(&bytes)), "{}", path.display());
    }
    assert!(holds_a_token("\"tok-p01-Zm9v\"") && !holds_a_token("\"tok-p01-…\""));
}

#[test]
fn two_players_and_odd_numbers_of_players_meet_once_each() {
    for (players, matches, rounds) in [("2", 1, 1), ("3", 3, 3), ("5", 10, 5)] {
        let home = TestHome::new();
        let standings: Vec<Value> = serde_json::from_str(&play(&home, &["--players", players])).unwrap();
        let count: usize = players.parse().unwrap();
        assert!(standings.len() == count && standings.iter().all(|row| row["played"] == count - 1), "{standings:?}");
        home.verify(matches);
        let schedule = home.tells("schedule");
        let schedule = schedule.as_array().unwrap();
        assert_eq!(schedule.len(), rounds);
        let mut resting: Vec<&str> = schedule.iter().filter_map(|round| round["bye"].as_str()).collect();
        resting.sort_unstable();
        resting.dedup();
        assert_eq!(
            resting.len(),
            if count.is_multiple_of(2) { 0 } else { count },
            "every player rests once: {schedule:?}"
        );
    }
}

#[test]
fn a_seed_gives_the_same_league_with_any_number_of_referees() {
    let leagues = ["1", "2", "8"].map(|referees| {
        let home = TestHome::new();
        let standings = play(&home, &["--players", "8", "--seed", "7", "--referees", referees]);
        home.verify(28);
        let matches = home.tells("matches");
        let ids = matches.as_array().unwrap().iter().map(|game| game["match_id"].as_str().unwrap());
        let results: Vec<Value> = ids.map(|id| home.match_file(id)["result"].clone()).collect();
        assert!(results.iter().all(Value::is_object));
        (standings, matches, results)
    });
    assert_eq!(leagues[0], leagues[1]);
    assert_eq!(leagues[0], leagues[2]);
    let other = play(&TestHome::new(), &["--players", "8", "--seed", "8"]);
    assert_ne!(leagues[0].0, other);
}

#[test]
fn a_home_that_has_a_finished_league_gets_another_one() {
    let home = TestHome::new();
    play(&home, &[]);
    play(&home, &["--players", "2"]);
    assert_eq!(home.tells("status")["league_id"], format!("{LEAGUE}_2"));
    home.verify(1);
}

#[test]
fn a_league_is_exported_as_tables() {
    let home = TestHome::new();
    let standings: Vec<Value> = serde_json::from_str(&play(&home, &["--players", "5"])).unwrap();
    let file = home.join("league.sqlite");
    let arguments = ["export", "--sqlite", file.to_str().unwrap(), "--home", home.path()];
    league(&arguments).well();
    let tables = Connection::open(&file).unwrap();
    let count = |query: &str| tables.query_row(query, [], |row| row.get::<_, u32>(0)).unwrap();
    for (table, rows) in [("players", 5), ("referees", 2), ("rounds", 5), ("matches", 10), ("results", 20)] {
        assert_eq!(count(&format!("SELECT count(*) FROM {table}")), rows, "{table}");
    }
    assert_eq!(count("SELECT count(*) FROM league WHERE status = 'LEAGUE_COMPLETED' AND current_round = 5"), 1);
    assert_eq!(count("SELECT count(*) FROM events WHERE kind = 'match_reported'"), 10);
    assert_eq!(count("SELECT max(seq) FROM events"), home.tells("verify")["events"]);
    assert_eq!(count("SELECT count(*) FROM matches WHERE status = 'COMPLETED' AND drawn_number IS NOT NULL"), 10);
    // The results add up to the table.
    let mut rows = tables
        .prepare(
            "SELECT s.player_id, s.points, sum(r.points), s.wins, sum(r.result = 'win') FROM standings s
             JOIN results r USING (player_id) GROUP BY s.player_id ORDER BY s.rank, s.player_id",
        )
        .unwrap();
    let rows = rows.query_map([], |row| {
        let number = |column| row.get::<_, u32>(column).unwrap();
        assert_eq!((number(1), number(3)), (number(2), number(4)));
        Ok((row.get::<_, String>(0)?, number(1)))
    });
    let exported: Vec<(String, u32)> = rows.unwrap().map(Result::unwrap).collect();
    let shown = |row: &Value| {
        (row["player_id"].as_str().unwrap().to_owned(), row["points"].as_u64().unwrap().try_into().unwrap())
    };
    assert_eq!(exported, standings.iter().map(shown).collect::<Vec<_>>());
    assert!(!holds_a_token(&String::from_utf8_lossy(&fs::read(&file).unwrap())));
    assert_eq!(count("SELECT count(*) FROM events WHERE fact LIKE '%digest%'"), 0);
    let told = league(&arguments).badly();
    assert!(told.contains("league.sqlite is there already; name another file"), "{told}");
}
