//! The views that count: `results` and `standings`, made of the league's own scoring.
//!
//! The order of the table is that of the season: by points, then one tie-break after the other, each worked out among those
//! whom everything before it left equal, then by player id. Each tie-break becomes one step of a query.

use std::fmt::Write;

use league_core::season::standings::{DoubleForfeit, Scoring, TieBreak};
use rusqlite::{Connection, Result};

pub(super) fn create(connection: &Connection, scoring: &Scoring) -> Result<()> {
    connection.execute_batch("DROP VIEW IF EXISTS standings; DROP VIEW IF EXISTS results;")?;
    connection.execute_batch(&results(scoring))?;
    connection.execute_batch(&standings(scoring))
}

/// Each finished match from both sides.
fn results(scoring: &Scoring) -> String {
    let double_forfeit = match scoring.double_forfeit {
        DoubleForfeit::Draw => "draw",
        DoubleForfeit::TechnicalLoss => "technical_loss",
    };
    let Scoring { win_points, draw_points, loss_points, technical_loss_points, .. } = scoring;
    format!(
        "CREATE VIEW results AS
         WITH sides AS (
             SELECT match_id, round, player_a AS player_id, player_b AS opponent_id, choice_a AS choice, winner, outcome
                 FROM matches WHERE status = 'COMPLETED'
             UNION ALL
             SELECT match_id, round, player_b, player_a, choice_b, winner, outcome
                 FROM matches WHERE status = 'COMPLETED'
         ), marked AS (
             SELECT match_id, round, player_id, opponent_id, choice, CASE
                 WHEN winner = player_id THEN 'win'
                 WHEN outcome = 'win' THEN 'loss'
                 WHEN outcome = 'draw' THEN 'draw'
                 WHEN outcome = 'double_forfeit' THEN '{double_forfeit}'
                 ELSE 'technical_loss' END AS result
             FROM sides
         )
         SELECT match_id, round, player_id, opponent_id, choice, result, CASE result
             WHEN 'win' THEN {win_points} WHEN 'draw' THEN {draw_points} WHEN 'loss' THEN {loss_points}
             ELSE {technical_loss_points} END AS points
         FROM marked;"
    )
}

fn standings(scoring: &Scoring) -> String {
    let mut query = String::from(
        "CREATE VIEW standings AS
         WITH step0 AS MATERIALIZED (
             SELECT players.player_id, players.name AS display_name, count(result) AS played,
                 count(CASE WHEN result = 'win' THEN 1 END) AS wins,
                 count(CASE WHEN result = 'draw' THEN 1 END) AS draws,
                 count(CASE WHEN result IN ('loss', 'technical_loss') THEN 1 END) AS losses,
                 coalesce(sum(results.points), 0) AS points, players.withdrawn
             FROM players LEFT JOIN results ON results.player_id = players.player_id GROUP BY players.player_id
         )",
    );
    let mut equal = String::from("a.points = b.points");
    let mut order = String::from("points DESC");
    for (tiebreak, step) in scoring.tiebreakers.iter().zip(1_usize..) {
        let before = step - 1;
        let value = match tiebreak {
            TieBreak::Wins => format!("SELECT s.*, s.wins AS by{step} FROM step{before} s"),
            TieBreak::Draws => format!("SELECT s.*, s.draws AS by{step} FROM step{before} s"),
            TieBreak::HeadToHead => format!(
                "SELECT s.*, coalesce(h.points, 0) AS by{step} FROM step{before} s LEFT JOIN (
                     SELECT r.player_id, sum(r.points) AS points FROM results r
                     JOIN step{before} a ON a.player_id = r.player_id JOIN step{before} b ON b.player_id = r.opponent_id
                     WHERE {equal} GROUP BY r.player_id
                 ) h ON h.player_id = s.player_id"
            ),
        };
        // Writing to a string cannot fail.
        let _ = write!(query, ", step{step} AS MATERIALIZED ({value})");
        let _ = write!(equal, " AND a.by{step} = b.by{step}");
        let _ = write!(order, ", by{step} DESC");
    }
    let last = scoring.tiebreakers.len();
    let _ = write!(
        query,
        " SELECT rank() OVER (ORDER BY {order}) AS rank,
              player_id, display_name, played, wins, draws, losses, points, withdrawn
          FROM step{last} ORDER BY rank, length(player_id), player_id;"
    );
    query
}
