//! Names the first field in which two documents differ.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::VerifyFinding;
use crate::home::Home;
use crate::views::find_match::find_match;
use crate::views::match_file::MatchFile;
use crate::views::standings::StandingsFile;

pub(super) struct Difference {
    field: String,
    found: String,
    expected: String,
}

impl Difference {
    pub(super) fn in_file(self, path: PathBuf) -> VerifyFinding {
        VerifyFinding::file(path, self.field, self.found, self.expected)
    }
}

/// Compares standings with the same number of results. Ignores names and withdrawals, which may have changed since.
pub(super) fn standings(found: &StandingsFile, expected: &StandingsFile) -> Result<(), Difference> {
    let plain = |file: &StandingsFile| {
        let mut rows = file.standings.clone();
        rows.iter_mut().for_each(|row| (row.display_name, row.withdrawn) = Default::default());
        json!({ "rounds_completed": file.rounds_completed, "standings": rows })
    };
    first(&plain(found), &plain(expected), String::new()).map_or(Ok(()), Err)
}

/// Called when the match file differs from `expected`; names the field.
pub(super) fn match_file(home: &Home, expected: &MatchFile) -> VerifyFinding {
    let (league, match_id) = (&expected.league_id, &expected.match_id);
    let one = home.match_file(league, match_id);
    let path = if one.exists() { one } else { home.match_lines(league) };
    let text = find_match(home, league, match_id).ok().flatten();
    let found = text.and_then(|text| serde_json::from_str::<MatchFile>(&text).ok());
    let plain = |file: &MatchFile| {
        let mut result = file.result.clone();
        result.iter_mut().for_each(|result| result.details.reason = None);
        json!({ "result": result, "draw": file.draw })
    };
    let different = found.as_ref().and_then(|found| first(&plain(found), &plain(expected), String::new()));
    match different {
        Some(different) => {
            let field = format!("{} of {match_id}", different.field);
            VerifyFinding::file(path, field, different.found, different.expected)
        }
        // The file is correct by now: its referee was writing it.
        None => VerifyFinding::file(path, match_id.as_str(), "changing".into(), "the log's result".into()),
    }
}

fn in_object<'a>(object: &'a serde_json::Map<String, Value>, name: &str) -> &'a Value {
    object.get(name).unwrap_or(&Value::Null)
}

fn first(found: &Value, expected: &Value, field: String) -> Option<Difference> {
    match (found, expected) {
        (Value::Object(one), Value::Object(other)) => {
            let names = other.keys().chain(one.keys().filter(|name| !other.contains_key(*name)));
            let inner = |name: &str| if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") };
            names.into_iter().find_map(|name| first(in_object(one, name), in_object(other, name), inner(name)))
        }
        (Value::Array(one), Value::Array(other)) => (0..one.len().max(other.len())).find_map(|index| {
            let (found, expected) = (one.get(index), other.get(index));
            first(found.unwrap_or(&Value::Null), expected.unwrap_or(&Value::Null), format!("{field}[{index}]"))
        }),
        _ if found == expected => None,
        _ => Some(Difference { field, found: found.to_string(), expected: expected.to_string() }),
    }
}
