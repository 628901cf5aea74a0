//! Downloads: `/export/standings.csv`, `results.csv`, the same as JSON, and single matches.

use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use super::shape::{Game, Piece, Standing};
use super::{answer, missing};
use crate::dashboard::Shared;
use crate::reply::{self, Reply};
use crate::site::RequestedLeague;

pub(crate) async fn export(shared: &Shared, path: &str) -> Reply {
    let everything = Piece { from: 0, limit: usize::MAX, search: String::new() };
    let standings = || shared.with(&RequestedLeague::Now, |snapshot| answer::standings(snapshot, &everything)).items;
    let results = || shared.with(&RequestedLeague::Now, |snapshot| answer::played(snapshot).collect::<Vec<_>>());
    match path.strip_prefix("export/").unwrap_or_default() {
        "standings.csv" => csv("standings.csv", standings_lines(&standings())),
        "results.csv" => csv("results.csv", results_lines(results())),
        "standings.json" => json("standings.json", &standings()),
        "results.json" => json("results.json", &results()),
        name => match name.strip_prefix("matches/").and_then(|name| name.strip_suffix(".json")) {
            Some(id) => match answer::game(shared, &RequestedLeague::Now, id).await {
                Some(game) => json(&format!("{id}.json"), &game),
                None => missing("there is no such match"),
            },
            None => missing("there is no such file"),
        },
    }
}

fn standings_lines(standings: &[Standing]) -> String {
    let mut lines = String::from("rank,player_id,name,played,wins,draws,losses,points,form,withdrawn\r\n");
    for Standing { row, form } in standings {
        let (rank, player, name) = (row.rank, &row.player_id, field(&row.display_name));
        let figures = [row.played, row.wins, row.draws, row.losses, row.points].map(|figure| figure.to_string());
        lines += &format!("{rank},{player},{name},{},{form},{}\r\n", figures.join(","), row.withdrawn);
    }
    lines
}

fn results_lines(games: Vec<Game>) -> String {
    let mut lines = String::from("match_id,round,player_a,player_b,ending,winner,choice_a,choice_b,number\r\n");
    for game in games {
        let text = |value: Option<String>| value.map(|value| field(&value)).unwrap_or_default();
        let line = [
            game.match_id.to_string(),
            game.round_id.to_string(),
            game.player_a_id.to_string(),
            game.player_b_id.to_string(),
            text(game.ending.map(String::from)),
            text(game.winner.map(|winner| winner.to_string())),
            text(game.choice_a.map(String::from)),
            text(game.choice_b.map(String::from)),
            text(game.drawn_number.map(|number| number.to_string())),
        ];
        lines += &format!("{}\r\n", line.join(","));
    }
    lines
}

/// Prefixes text that a spreadsheet would run as a formula.
fn field(text: &str) -> String {
    let plain = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() };
    if plain.contains([',', '"', '\n', '\r']) { format!("\"{}\"", plain.replace('"', "\"\"")) } else { plain }
}

fn csv(name: &str, text: String) -> Reply {
    attachment(name, reply::whole(StatusCode::OK, "text/csv; charset=utf-8", text))
}

fn json(name: &str, data: &impl Serialize) -> Reply {
    attachment(name, reply::json(StatusCode::OK, data))
}

fn attachment(name: &str, mut reply: Reply) -> Reply {
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        reply.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn csv_fields_are_quoted_where_needed_and_never_start_a_formula() {
        assert_eq!(field("Ann"), "Ann");
        assert_eq!(field("Ann, \"the\" first"), "\"Ann, \"\"the\"\" first\"");
        assert_eq!(field("=1+1"), "'=1+1");
    }
}
