//! The events as tables, written in the same transaction: for people with `sqlite3`, and for nothing else.
//!
//! `league`, `players`, `referees` and `matches` say how things stand; the views `results` (each match from both sides) and
//! `standings` count with the league's own points and tie-breaks, head-to-head included. Nothing of ours reads them
//! back, except to see whether somebody changed them: dropped, they are made again by [`SqliteLog::rebuild`](super::Log::rebuild).

mod compare;
mod count;

use league_core::rules::outcome::Outcome;
use league_core::season::LeaguePhase;
use league_core::season::agent::AgentProfile;
use league_core::season::event::{Event, Fact};
use league_core::season::schedule::Schedule;
use league_protocol::id::{MatchId, RefereeId, RoundId};
use league_protocol::side::Side;
use rusqlite::{Connection, Result, params};

pub(crate) use compare::difference;

const TABLES: &str = "
    CREATE TABLE league (
        league_id     TEXT PRIMARY KEY,
        game_type     TEXT NOT NULL,
        status        TEXT NOT NULL,
        halted        INTEGER NOT NULL,
        current_round INTEGER NOT NULL,
        opened_at     TEXT NOT NULL
    ) STRICT;
    CREATE TABLE players (
        player_id     TEXT PRIMARY KEY,
        name          TEXT NOT NULL,
        version       TEXT NOT NULL,
        endpoint      TEXT NOT NULL,
        registered_at TEXT NOT NULL,
        withdrawn     INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE referees (
        referee_id    TEXT PRIMARY KEY,
        name          TEXT NOT NULL,
        version       TEXT NOT NULL,
        endpoint      TEXT NOT NULL,
        capacity      INTEGER NOT NULL,
        lost          INTEGER NOT NULL,
        registered_at TEXT NOT NULL
    ) STRICT;
    CREATE TABLE matches (
        match_id         TEXT PRIMARY KEY,
        round            INTEGER NOT NULL,
        attempt          INTEGER NOT NULL,
        player_a         TEXT NOT NULL,
        player_b         TEXT NOT NULL,
        status           TEXT NOT NULL,
        winner           TEXT,
        drawn_number     INTEGER,
        choice_a         TEXT,
        choice_b         TEXT,
        outcome          TEXT,
        technical_losses TEXT NOT NULL,
        referee          TEXT,
        reported_at      TEXT
    ) STRICT;
    CREATE INDEX matches_in_hand ON matches (referee) WHERE status = 'IN_PROGRESS';
";

const DROP: &str = "
    DROP VIEW IF EXISTS standings;
    DROP VIEW IF EXISTS results;
    DROP TABLE IF EXISTS matches;
    DROP TABLE IF EXISTS referees;
    DROP TABLE IF EXISTS players;
    DROP TABLE IF EXISTS league;
";

/// Makes the tables, empty. The views come with the opening of the league: its rules are in them.
pub(crate) fn create(connection: &Connection) -> Result<()> {
    connection.execute_batch(TABLES)
}

pub(crate) fn drop_all(connection: &Connection) -> Result<()> {
    connection.execute_batch(DROP)
}

/// What an event is called in the log.
pub fn kind_of(fact: &Fact) -> &'static str {
    match fact {
        Fact::Opened { .. } => "opened",
        Fact::PlayerRegistered { .. } => "player_registered",
        Fact::RefereeRegistered { .. } => "referee_registered",
        Fact::PlayerReturned { .. } => "player_returned",
        Fact::RefereeReturned { .. } => "referee_returned",
        Fact::RegistrationClosed => "registration_closed",
        Fact::RegistrationReopened => "registration_reopened",
        Fact::PlayerWithdrawn { .. } => "player_withdrawn",
        Fact::RoundStarted { .. } => "round_started",
        Fact::MatchAssigned { .. } => "match_assigned",
        Fact::MatchReturned { .. } => "match_returned",
        Fact::RefereeLost { .. } => "referee_lost",
        Fact::MatchExplained { .. } => "match_explained",
        Fact::MatchReported { .. } => "match_reported",
        Fact::MatchAwarded { .. } => "match_awarded",
        Fact::RoundCompleted { .. } => "round_completed",
        Fact::LeagueCompleted => "league_completed",
        Fact::AgentLearned { .. } => "agent_learned",
        Fact::Halted => "halted",
        Fact::Resumed => "resumed",
    }
}

/// Lets the tables follow `event`. What speaks of somebody unknown changes nothing: to judge events is the season's business.
pub(crate) fn apply(connection: &Connection, event: &Event) -> Result<()> {
    let at = event.at.to_string();
    match &event.fact {
        Fact::Opened { config } => {
            let (league, game) = (config.league_id.as_str(), config.game_type.as_str());
            let status = LeaguePhase::WaitingForRegistrations.as_str();
            execute(
                connection,
                "INSERT OR IGNORE INTO league VALUES (?1, ?2, ?3, 0, 0, ?4)",
                params![league, game, status, at],
            )?;
            count::create(connection, &config.scoring)
        }
        Fact::PlayerRegistered { player, profile, .. } => {
            let AgentProfile { name, version, endpoint, games: _, shows_passes: _, accepts_batches: _ } = profile;
            execute(
                connection,
                "INSERT OR IGNORE INTO players VALUES (?1, ?2, ?3, ?4, ?5, 0)",
                params![player.as_str(), name.as_str(), version.as_str(), endpoint, at],
            )
        }
        Fact::RefereeRegistered { referee, profile, capacity, .. } => {
            let AgentProfile { name, version, endpoint, games: _, shows_passes: _, accepts_batches: _ } = profile;
            execute(
                connection,
                "INSERT OR IGNORE INTO referees VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6)",
                params![referee.as_str(), name.as_str(), version.as_str(), endpoint, capacity, at],
            )
        }
        Fact::PlayerReturned { player, profile, .. } => {
            let AgentProfile { name, version, endpoint, games: _, shows_passes: _, accepts_batches: _ } = profile;
            execute(
                connection,
                "UPDATE players SET name = ?2, version = ?3, endpoint = ?4 WHERE player_id = ?1",
                params![player.as_str(), name.as_str(), version.as_str(), endpoint],
            )
        }
        Fact::RefereeReturned { referee, profile, capacity, .. } => {
            let AgentProfile { name, version, endpoint, games: _, shows_passes: _, accepts_batches: _ } = profile;
            release(connection, referee)?;
            execute(
                connection,
                "UPDATE referees SET name = ?2, version = ?3, endpoint = ?4, capacity = ?5, lost = 0 \
                 WHERE referee_id = ?1",
                params![referee.as_str(), name.as_str(), version.as_str(), endpoint, capacity],
            )
        }
        Fact::RegistrationClosed => set_status(connection, LeaguePhase::CreatingSchedule),
        Fact::RegistrationReopened => {
            set_status(connection, LeaguePhase::WaitingForRegistrations)?;
            execute(connection, "UPDATE league SET halted = 0, current_round = 0", [])?;
            execute(connection, "DELETE FROM matches", [])?;
            execute(connection, "DELETE FROM players WHERE withdrawn", [])
        }
        Fact::PlayerWithdrawn { player } => {
            // Who is withdrawn before the first round is gone.
            let player = params![player.as_str()];
            execute(connection, "UPDATE players SET withdrawn = 1 WHERE player_id = ?1", player)?;
            execute(connection, "DELETE FROM players WHERE withdrawn AND (SELECT current_round FROM league) = 0", [])
        }
        Fact::RoundStarted { round } => {
            set_status(connection, LeaguePhase::RunningLeague)?;
            execute(connection, "UPDATE league SET current_round = ?1", params![round.0])?;
            pair(connection, *round)
        }
        Fact::MatchAssigned { match_id, attempt, referee } => execute(
            connection,
            "UPDATE matches SET status = 'IN_PROGRESS', attempt = ?2, referee = ?3 WHERE match_id = ?1",
            params![match_id.as_str(), attempt, referee.as_str()],
        ),
        Fact::MatchReturned { match_id, .. } => execute(
            connection,
            "UPDATE matches SET status = 'PENDING', referee = NULL WHERE match_id = ?1",
            params![match_id.as_str()],
        ),
        Fact::RefereeLost { referee } => {
            release(connection, referee)?;
            execute(connection, "UPDATE referees SET lost = 1 WHERE referee_id = ?1", params![referee.as_str()])
        }
        Fact::MatchReported { match_id, attempt, record } => {
            execute(
                connection,
                "UPDATE matches SET attempt = ?2, drawn_number = ?3, choice_a = ?4, choice_b = ?5 WHERE match_id = ?1",
                params![match_id.as_str(), attempt, record.drawn, record.moves.a.as_deref(), record.moves.b.as_deref()],
            )?;
            settle(connection, match_id, record.outcome, &at)
        }
        Fact::MatchAwarded { match_id, outcome } => settle(connection, match_id, *outcome, &at),
        // The matches say so already; and how an agent is spoken to is nobody's business but the manager's.
        Fact::RoundCompleted { .. } | Fact::AgentLearned { .. } | Fact::MatchExplained { .. } => Ok(()),
        Fact::LeagueCompleted => set_status(connection, LeaguePhase::LeagueCompleted),
        Fact::Halted => execute(connection, "UPDATE league SET halted = 1", []),
        Fact::Resumed => execute(connection, "UPDATE league SET halted = 0", []),
    }
}

/// The matches of a round, in nobody's hands yet.
fn pair(connection: &Connection, round: RoundId) -> Result<()> {
    // The order of ids, as the season has it.
    let mut players =
        connection.prepare_cached("SELECT player_id FROM players ORDER BY length(player_id), player_id")?;
    let players = players.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>>>()?;
    let schedule = Schedule::new(u32::try_from(players.len()).unwrap_or(u32::MAX));
    for (pairing, number) in schedule.round(round.0).zip(1..) {
        let (Some(a), Some(b)) = (players.get(pairing.a as usize), players.get(pairing.b as usize)) else { continue };
        let match_id = MatchId::of(round, number);
        execute(
            connection,
            "INSERT OR IGNORE INTO matches (match_id, round, attempt, player_a, player_b, status, technical_losses)
             VALUES (?1, ?2, 0, ?3, ?4, 'PENDING', '[]')",
            params![match_id.as_str(), round.0, a, b],
        )?;
    }
    Ok(())
}

fn settle(connection: &Connection, match_id: &MatchId, outcome: Outcome, at: &str) -> Result<()> {
    let lost = |side| outcome.forfeited(side);
    execute(
        connection,
        "UPDATE matches SET status = 'COMPLETED', outcome = ?2,
             winner = CASE ?3 WHEN 'A' THEN player_a WHEN 'B' THEN player_b END,
             technical_losses = CASE WHEN ?4 AND ?5 THEN json_array(player_a, player_b)
                 WHEN ?4 THEN json_array(player_a) WHEN ?5 THEN json_array(player_b) ELSE '[]' END,
             reported_at = ?6
         WHERE match_id = ?1",
        params![
            match_id.as_str(),
            outcome_word(outcome),
            outcome.winner().map(side_word),
            lost(Side::A),
            lost(Side::B),
            at
        ],
    )
}

/// Whatever a referee holds is in nobody's hands again.
fn release(connection: &Connection, referee: &RefereeId) -> Result<()> {
    execute(
        connection,
        "UPDATE matches SET status = 'PENDING', referee = NULL WHERE status = 'IN_PROGRESS' AND referee = ?1",
        params![referee.as_str()],
    )
}

fn set_status(connection: &Connection, phase: LeaguePhase) -> Result<()> {
    execute(connection, "UPDATE league SET status = ?1", params![phase.as_str()])
}

fn execute(connection: &Connection, statement: &str, values: impl rusqlite::Params) -> Result<()> {
    connection.prepare_cached(statement)?.execute(values).map(drop)
}

fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win(_) => "win",
        Outcome::Draw => "draw",
        Outcome::Forfeit(_) => "forfeit",
        Outcome::DoubleForfeit => "double_forfeit",
    }
}

fn side_word(side: Side) -> &'static str {
    match side {
        Side::A => "A",
        Side::B => "B",
    }
}

/// Whether all tables are there, in the form that they have now. Somebody may have taken some away, or an earlier program may
/// have made them, which is nobody's fault: they are only for looking.
pub(crate) fn is_whole(connection: &Connection) -> Result<bool> {
    let names = "SELECT count(*) FROM sqlite_schema WHERE name IN ('league', 'players', 'referees', 'matches')";
    let newest = "SELECT count(*) FROM pragma_table_info('players') WHERE name = 'withdrawn'";
    let count = |query| connection.query_row(query, [], |row| row.get::<_, u32>(0));
    Ok(count(names)? == 4 && count(newest)? == 1)
}

/// Whether the views are there, too.
pub(crate) fn has_views(connection: &Connection) -> Result<bool> {
    let names = "SELECT count(*) FROM sqlite_schema WHERE name IN ('results', 'standings')";
    Ok(connection.query_row(names, [], |row| row.get::<_, u32>(0))? == 2)
}
