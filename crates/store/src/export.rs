//! `league export --sqlite FILE`: writes a league as SQL tables. Nothing reads them back.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use league_core::record::MatchRecord;
use league_core::replay::{Replay, ReplayError};
use league_core::rules::outcome::Outcome;
use league_core::season::Season;
use league_core::season::event::Fact;
use league_protocol::message::query::ScheduledMatch;
use league_protocol::side::{Pair, Side};
use league_protocol::time::Timestamp;
use rusqlite::{Connection, Transaction, params};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::log::{EventLog, LogError, LogHead, scan};
use crate::views::replace::{beside, sync_file};

const TABLES: &str = "
    CREATE TABLE league (
        league_id TEXT PRIMARY KEY, game_type TEXT NOT NULL, status TEXT NOT NULL, halted INTEGER NOT NULL,
        current_round INTEGER NOT NULL, head TEXT NOT NULL, games_per_match INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE players (
        player_id TEXT PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, endpoint TEXT NOT NULL, state TEXT NOT NULL
    ) STRICT;
    CREATE TABLE referees (
        referee_id TEXT PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, endpoint TEXT NOT NULL,
        capacity INTEGER NOT NULL, lost INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE rounds (round INTEGER PRIMARY KEY, completed INTEGER NOT NULL, bye TEXT) STRICT;
    CREATE TABLE matches (
        match_id TEXT PRIMARY KEY, round INTEGER NOT NULL, player_a TEXT NOT NULL, player_b TEXT NOT NULL,
        status TEXT NOT NULL, winner TEXT, outcome TEXT, drawn_number INTEGER, move_a TEXT, move_b TEXT, ended_at TEXT,
        score_a INTEGER, score_b INTEGER
    ) STRICT;
    CREATE TABLE results (
        match_id TEXT NOT NULL, round INTEGER NOT NULL, player_id TEXT NOT NULL, opponent_id TEXT NOT NULL, move TEXT,
        result TEXT NOT NULL, points INTEGER NOT NULL, PRIMARY KEY (match_id, player_id)
    ) STRICT;
    CREATE TABLE standings (
        rank INTEGER NOT NULL, player_id TEXT PRIMARY KEY, name TEXT NOT NULL, played INTEGER NOT NULL,
        wins INTEGER NOT NULL, draws INTEGER NOT NULL, losses INTEGER NOT NULL, points INTEGER NOT NULL,
        withdrawn INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, fact TEXT NOT NULL, hash TEXT NOT NULL
    ) STRICT;
";

#[derive(Debug, Error)]
pub enum ExportError {
    #[error("{0} is there already; name another file, or remove it first")]
    Exists(PathBuf),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("the log cannot be replayed: {0}")]
    Replay(#[from] ReplayError),
    #[error("{path} cannot be written: {reason}")]
    Write { path: PathBuf, reason: String },
    #[error("the tables cannot be written: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// Writes to a temporary file and renames it, so `path` is complete or absent.
pub fn export(log: &dyn EventLog, path: &Path) -> Result<LogHead, ExportError> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(ExportError::Exists(path.to_path_buf()));
    }
    let temporary = beside(path);
    let failed = |error: io::Error| ExportError::Write { path: path.to_path_buf(), reason: error.to_string() };
    let written = write(log, &temporary).and_then(|head| {
        sync_file(&temporary).and_then(|()| fs::rename(&temporary, path)).map_err(failed)?;
        Ok(head)
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write(log: &dyn EventLog, path: &Path) -> Result<LogHead, ExportError> {
    let mut database = Connection::open(path)
        .map_err(|error| ExportError::Write { path: path.to_path_buf(), reason: error.to_string() })?;
    // The file is new and temporary, so nothing needs a rollback.
    database.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    let tables = database.transaction()?;
    tables.execute_batch(TABLES)?;
    let (mut replay, mut results) = (Replay::default(), HashMap::new());
    let head = scan(log, |head, event| {
        replay.apply(&event)?;
        let kind = event.fact.kind();
        let fact = Value::Object(public_fact(&event.fact)).to_string();
        let seq = i64::try_from(head.seq).unwrap_or(i64::MAX);
        let values = params![seq, event.at.to_string(), kind, fact, head.hash.to_string()];
        insert(&tables, "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5)", values)?;
        if let Fact::MatchReported { match_id, record, .. } = event.fact {
            results.insert(match_id, (event.at, record.outcome, Some(record)));
        } else if let Fact::MatchAwarded { match_id, outcome } = event.fact {
            results.insert(match_id, (event.at, outcome, None));
        }
        Ok::<_, ExportError>(())
    })?;
    let season = replay.finish()?;
    write_agents(&tables, &season, head)?;
    for round in season.scheduled_rounds() {
        let number = round.round_id.0;
        let byes: Vec<&str> = round.bye.iter().chain(round.byes.iter().skip(1)).map(|player| player.as_str()).collect();
        let bye = (!byes.is_empty()).then(|| byes.join(","));
        insert(&tables, "INSERT INTO rounds VALUES (?1, ?2, ?3)", params![number, round.completed, bye])?;
        for game in &round.matches {
            write_match(&tables, &season, game, results.get(&game.match_id))?;
        }
    }
    tables.commit()?;
    Ok(head)
}

fn write_agents(tables: &Transaction<'_>, season: &Season, head: LogHead) -> rusqlite::Result<()> {
    let config = season.config();
    let (league, game, status) = (config.league_id.as_str(), config.game_type.as_str(), season.phase().as_str());
    let (round, games) = (season.round_number().0, config.games_per_match.get());
    let values = params![league, game, status, season.is_halted(), round, head.to_string(), games];
    insert(tables, "INSERT INTO league VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", values)?;
    for player in season.players() {
        let profile = &player.profile;
        let state = season.condition(player).word();
        let values =
            params![player.id.as_str(), profile.name.as_str(), profile.version.as_str(), profile.endpoint, state];
        insert(tables, "INSERT INTO players VALUES (?1, ?2, ?3, ?4, ?5)", values)?;
    }
    for referee in season.referees() {
        let (id, profile) = (referee.id.as_str(), &referee.profile);
        let (name, version) = (profile.name.as_str(), profile.version.as_str());
        let values = params![id, name, version, profile.endpoint, referee.capacity, referee.lost];
        insert(tables, "INSERT INTO referees VALUES (?1, ?2, ?3, ?4, ?5, ?6)", values)?;
    }
    for row in season.standings() {
        let (player, name) = (row.player_id.as_str(), row.display_name.as_str());
        let values =
            params![row.rank, player, name, row.played, row.wins, row.draws, row.losses, row.points, row.withdrawn];
        insert(tables, "INSERT INTO standings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", values)?;
    }
    Ok(())
}

fn write_match(
    tables: &Transaction<'_>,
    season: &Season,
    game: &ScheduledMatch,
    ended: Option<&(Timestamp, Outcome, Option<MatchRecord>)>,
) -> rusqlite::Result<()> {
    let (match_id, round) = (game.match_id.as_str(), game.round_id.0);
    let players = Pair::new(game.player_a_id.as_str(), game.player_b_id.as_str());
    let record = ended.and_then(|(_, _, record)| record.as_ref());
    let moves = Pair::from_fn(|side| record.and_then(|record| record.moves[side].as_deref()));
    let score = record.and_then(|record| record.score);
    let values = params![
        match_id,
        round,
        players.a,
        players.b,
        game.status.as_str(),
        game.winner.as_ref().map(|winner| winner.as_str()),
        ended.map(|(_, outcome, _)| outcome.as_str()),
        record.and_then(|record| record.drawn),
        moves.a,
        moves.b,
        ended.map(|(at, ..)| at.to_string()),
        score.map(|score| score.a),
        score.map(|score| score.b),
    ];
    insert(tables, "INSERT INTO matches VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)", values)?;
    let Some((_, outcome, _)) = ended else { return Ok(()) };
    let points = outcome.points(&season.config().scoring.match_points());
    for side in Side::BOTH {
        let (player, opponent) = (players[side], players[side.other()]);
        let values = params![match_id, round, player, opponent, moves[side], result_name(*outcome, side), points[side]];
        insert(tables, "INSERT INTO results VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", values)?;
    }
    Ok(())
}

fn insert(tables: &Transaction<'_>, statement: &str, values: impl rusqlite::Params) -> rusqlite::Result<()> {
    tables.prepare_cached(statement)?.execute(values).map(drop)
}

fn result_name(outcome: Outcome, side: Side) -> &'static str {
    match outcome {
        _ if outcome.winner() == Some(side) => "win",
        Outcome::Win(_) => "loss",
        Outcome::Draw => "draw",
        Outcome::Forfeit(_) | Outcome::DoubleForfeit => "technical_loss",
    }
}

/// Leaves out secrets: the digest of a token is enough to make passes, and the source of lots tells future lots. Endpoints and dialects are left out too.
pub fn public_fact(fact: &Fact) -> Map<String, Value> {
    let mut members = match serde_json::to_value(fact) {
        Ok(Value::Object(mut named)) => match named.remove(fact.kind()) {
            Some(Value::Object(members)) => members,
            Some(_) | None => Map::new(),
        },
        Ok(_) | Err(_) => Map::new(),
    };
    members.remove("grant");
    if let Some(Value::Object(lots)) = members.get_mut("config").and_then(|config| config.get_mut("lots")) {
        lots.remove("secret");
    }
    if let Some(Value::Object(learned)) = members.get_mut("learned") {
        learned.remove("manner");
    }
    if let Some(Value::Object(profile)) = members.get_mut("profile") {
        profile.remove("endpoint");
    }
    let problems = members.get_mut("account").and_then(|account| account.get_mut("problems"));
    for problem in problems.and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
        if let Value::Object(problem) = problem {
            problem.remove("endpoint");
        }
    }
    members
}
