//! Downloads: `/export/standings.csv`, `results.csv`, the same as JSON, and single matches.

use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use super::answer;
use super::refused;
use super::shape::Piece;
use crate::dashboard::Shared;
use crate::reply::{self, Reply};
use crate::site::RequestedLeague;

pub(crate) async fn export(shared: &Shared, path: &str) -> Reply {
    let everything = Piece { from: 0, limit: usize::MAX, search: String::new() };
    match path.strip_prefix("export/").unwrap_or_default() {
        "standings.csv" => csv("standings.csv", &standings(shared, &everything)),
        "results.csv" => csv("results.csv", &results(shared)),
        "standings.json" => {
            let page = shared.with(&RequestedLeague::Now, |snapshot| answer::standings(snapshot, &everything));
            json("standings.json", &page.items)
        }
        "results.json" => json(
            "results.json",
            &shared.with(&RequestedLeague::Now, |snapshot| answer::played(snapshot).collect::<Vec<_>>()),
        ),
        name => match name.strip_prefix("matches/").and_then(|name| name.strip_suffix(".json")) {
            Some(id) => match answer::game(shared, &RequestedLeague::Now, id).await {
                Some(game) => json(&format!("{id}.json"), &game),
                None => refused(StatusCode::NOT_FOUND, "there is no such match"),
            },
            None => refused(StatusCode::NOT_FOUND, "there is no such file"),
        },
    }
}

fn standings(shared: &Shared, everything: &Piece) -> String {
    let page = shared.with(&RequestedLeague::Now, |snapshot| answer::standings(snapshot, everything));
    let mut lines = String::from("rank,player_id,name,played,wins,draws,losses,points,form,withdrawn\r\n");
    for one in page.items {
        let row = &one.row;
        let figures = [row.played, row.wins, row.draws, row.losses, row.points].map(|figure| figure.to_string());
        let name = field(&row.display_name);
        let withdrawn = row.withdrawn.to_string();
        let line = [row.rank.to_string(), row.player_id.to_string(), name, figures.join(","), one.form, withdrawn];
        lines.push_str(&line.join(","));
        lines.push_str("\r\n");
    }
    lines
}

fn results(shared: &Shared) -> String {
    let games = shared.with(&RequestedLeague::Now, |snapshot| answer::played(snapshot).collect::<Vec<_>>());
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
        lines.push_str(&line.join(","));
        lines.push_str("\r\n");
    }
    lines
}

/// Prefixes text that a spreadsheet would run as a formula.
fn field(text: &str) -> String {
    let tamed = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() };
    if tamed.contains([',', '"', '\n', '\r']) { format!("\"{}\"", tamed.replace('"', "\"\"")) } else { tamed }
}

fn csv(name: &str, text: &str) -> Reply {
    named(name, reply::whole(StatusCode::OK, "text/csv; charset=utf-8", text.to_owned()))
}

fn json(name: &str, data: &impl Serialize) -> Reply {
    named(name, reply::json(StatusCode::OK, data))
}

fn named(name: &str, mut reply: Reply) -> Reply {
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        reply.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn a_field_is_quoted_where_it_must_be_and_no_name_is_a_formula() {
        assert_eq!(field("Ann"), "Ann");
        assert_eq!(field("Ann, \"the\" first"), "\"Ann, \"\"the\"\" first\"");
        assert_eq!(field("=1+1"), "'=1+1");
    }
}
