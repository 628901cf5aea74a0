//! Pairings and standings of a minimal league.

use serde_json::{Value, json};

use crate::message::text;

pub(crate) fn rounds(players: usize) -> Vec<Vec<(usize, usize)>> {
    let places = players + players % 2;
    let mut circle: Vec<usize> = (0..places).collect();
    let mut rounds = Vec::new();
    for _ in 1..places {
        let pairs = (0..places / 2).map(|place| (circle[place], circle[places - 1 - place]));
        rounds.push(pairs.filter(|(a, b)| *a < players && *b < players).collect());
        circle[1..].rotate_right(1);
    }
    rounds
}

pub(crate) fn standings(players: &[(String, String)], reports: &[Value]) -> Value {
    let row = |(id, _): &(String, String)| {
        let score = |report: &Value| report.pointer("/result/score").and_then(|score| score.get(id)?.as_u64());
        let scores: Vec<u64> = reports.iter().filter_map(score).collect();
        let won = |report: &&Value| report.pointer("/result/winner").and_then(Value::as_str) == Some(id);
        let draws = scores.iter().filter(|points| **points == 1).count();
        let wins = reports.iter().filter(won).count();
        let losses = scores.len() - wins.min(scores.len()) - draws;
        json!({"player_id": id, "display_name": id, "played": scores.len(), "wins": wins, "draws": draws,
            "losses": losses, "points": scores.iter().sum::<u64>()})
    };
    let mut rows: Vec<Value> = players.iter().map(row).collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row["points"].as_u64()), text(row, "player_id").to_owned()));
    for (place, row) in rows.iter_mut().enumerate() {
        row["rank"] = json!(place + 1);
    }
    Value::Array(rows)
}
