//! The tables beside the events: what they say is what the season says, and they can be made again.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what helps it")]

mod support;

use std::path::Path;

use league_core::season::config::LeagueConfig;
use league_core::season::event::Event;
use league_core::season::standings::{DoubleForfeit, Scoring, TieBreak};
use league_protocol::message::standings::StandingsRow;
use league_store::log::{EventLog, SqliteLog};
use rusqlite::Connection;
use rusqlite::types::Value;
use smol_str::SmolStr;
use support::{Story, eventful, league, played, tamper};

fn keep(path: &Path, events: &[Event]) {
    let (log, _) = SqliteLog::open(path).unwrap();
    // In pieces, as a manager would.
    for answer in events.chunks(7).map(|batch| log.append(batch.to_vec())).collect::<Vec<_>>() {
        answer.wait().unwrap();
    }
}

fn rows(path: &Path, query: &str) -> Vec<Vec<Value>> {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection.prepare(query).unwrap();
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|column| row.get(column)).collect());
    rows.unwrap().map(Result::unwrap).collect()
}

/// Everything but the events.
fn tables(path: &Path) -> Vec<Vec<Vec<Value>>> {
    let names = ["league", "players", "referees", "matches", "results", "standings"];
    names.iter().map(|name| rows(path, &format!("SELECT * FROM {name} ORDER BY 1, 2, 3"))).collect()
}

fn standings(path: &Path) -> Vec<StandingsRow> {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection.prepare("SELECT * FROM standings").unwrap();
    let rows = statement.query_map([], |row| {
        Ok(StandingsRow {
            rank: row.get("rank")?,
            player_id: row.get::<_, String>("player_id")?.parse().unwrap(),
            display_name: SmolStr::new(row.get::<_, String>("display_name")?),
            played: row.get("played")?,
            wins: row.get("wins")?,
            draws: row.get("draws")?,
            losses: row.get("losses")?,
            points: row.get("points")?,
            withdrawn: row.get("withdrawn")?,
        })
    });
    rows.unwrap().map(Result::unwrap).collect()
}

#[test]
fn tables_that_were_dropped_come_back_as_they_were() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("league.db");
    for (seed, matches) in [(1, u32::MAX), (2, 0), (3, 17)] {
        let _ = std::fs::remove_file(&path);
        let mut story = Story::open(LeagueConfig::even_odd(league()), seed);
        story.register(9, 3);
        story.play(matches);
        keep(&path, &story.events);
        let live = tables(&path);
        tamper(
            &path,
            "UPDATE matches SET winner = 'P01'; DELETE FROM players; DROP VIEW standings; DROP TABLE league;",
        );
        let head = SqliteLog::rebuild(&path).unwrap();
        assert_eq!(tables(&path), live);
        assert_eq!(head.seq, story.events.len() as u64);
        assert_eq!(SqliteLog::open(&path).unwrap().1, story.events);
    }
}

#[test]
fn a_manager_that_finds_them_gone_makes_them_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("league.db");
    let story = played(4, 1);
    let (before, after) = story.events.split_at(20);
    keep(&path, before);
    tamper(&path, "DROP TABLE players; DROP VIEW results;");
    keep(&path, after);
    assert_eq!(standings(&path), story.season.standings());
}

#[test]
fn the_view_ranks_as_the_season_does_whatever_the_rules() {
    use TieBreak::{Draws, HeadToHead, Wins};
    let directory = tempfile::tempdir().unwrap();
    let rules =
        [vec![Wins, HeadToHead, Draws], vec![HeadToHead, Draws], vec![], vec![Draws, HeadToHead, HeadToHead, Wins]];
    for (seed, tiebreakers) in (0..24).zip(rules.iter().cycle()) {
        let path = directory.path().join(format!("{seed}.db"));
        let double_forfeit = if seed % 2 == 0 { DoubleForfeit::Draw } else { DoubleForfeit::TechnicalLoss };
        let scoring =
            Scoring { tiebreakers: tiebreakers.clone(), double_forfeit, loss_points: 1, ..Scoring::default() };
        let mut story = Story::open(LeagueConfig { scoring, ..LeagueConfig::even_odd(league()) }, seed);
        // More than nine, so that P10 must come behind P9 and not behind P1.
        story.register(11 + u32::try_from(seed % 2).unwrap(), 2);
        story.play(if seed % 3 == 0 { 20 } else { u32::MAX });
        keep(&path, &story.events);
        assert_eq!(standings(&path), story.season.standings(), "seed {seed}");
    }
}

#[test]
fn players_that_were_withdrawn_and_a_second_beginning_are_in_the_tables() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("league.db");
    let story = eventful(3);
    for until in 1..=story.events.len() {
        let _ = std::fs::remove_file(&path);
        keep(&path, &story.events[..until]);
        let season = league_core::season::Season::replay(&story.events[..until]).unwrap();
        assert_eq!(standings(&path), season.standings(), "after event {until}");
    }
    let withdrawn = rows(&path, "SELECT player_id FROM players WHERE withdrawn");
    assert_eq!(withdrawn, [[Value::Text(String::from("P02"))]]);
    tamper(
        &path,
        "ALTER TABLE players DROP COLUMN endpoint; DROP VIEW standings; ALTER TABLE players DROP COLUMN withdrawn;",
    );
    drop(SqliteLog::open(&path).unwrap());
    assert_eq!(standings(&path), story.season.standings(), "tables of an earlier form are made again");
}

#[test]
fn people_can_ask_who_beat_whom() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("league.db");
    let story = played(5, 4);
    keep(&path, &story.events);
    let count = |query: &str| {
        let connection = Connection::open(&path).unwrap();
        connection.query_row(query, [], |row| row.get::<_, u32>(0)).unwrap()
    };
    assert_eq!(count("SELECT count(*) FROM matches WHERE status = 'COMPLETED'"), 10);
    assert_eq!(count("SELECT count(*) FROM results"), 20);
    let wins: u32 = story.season.standings().iter().map(|row| row.wins).sum();
    assert_eq!(count("SELECT count(*) FROM matches WHERE winner IN (player_a, player_b)"), wins);
    assert_eq!(
        count("SELECT count(*) FROM matches WHERE outcome = 'forfeit' AND json_array_length(technical_losses) <> 1"),
        0
    );
    assert_eq!(count("SELECT count(*) FROM league WHERE status = 'LEAGUE_COMPLETED' AND current_round = 5"), 1);
}
