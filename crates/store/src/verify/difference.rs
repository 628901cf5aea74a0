//! Names the first field in which two documents differ.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::VerifyFinding;
use crate::home::Home;
use crate::views::find_match::find_match;
use crate::views::match_file::MatchFile;
use crate::views::standings::StandingsFile;

struct Difference {
    field: String,
    found: String,
    expected: String,
}

impl Difference {
    fn in_file(self, path: PathBuf) -> VerifyFinding {
        VerifyFinding::File { path, field: self.field, found: self.found, expected: self.expected }
    }
}

/// Compares standings with the same number of results. Ignores names and withdrawals, which may have changed since.
pub(super) fn standings(path: PathBuf, found: &StandingsFile, expected: &StandingsFile) -> Result<(), VerifyFinding> {
    let plain = |file: &StandingsFile| {
        let mut rows = file.standings.clone();
        rows.iter_mut().for_each(|row| (row.display_name, row.withdrawn) = Default::default());
        json!({ "rounds_completed": file.rounds_completed, "standings": rows })
    };
    let different = first(&plain(found), &plain(expected), String::new());
    different.map_or(Ok(()), |different| Err(different.in_file(path)))
}

/// Called when the match file differs from `expected`; names the field.
pub(super) fn match_file(home: &Home, expected: &MatchFile) -> VerifyFinding {
    let (league, match_id) = (&expected.league_id, &expected.match_id);
    let text = find_match(home, league, match_id).ok().flatten();
    let found = text.and_then(|text| serde_json::from_str::<MatchFile>(&text).ok());
    let plain = |file: &MatchFile| {
        let mut result = file.result.clone();
        result.iter_mut().for_each(|result| result.details.reason = None);
        json!({ "result": result, "draw": file.draw })
    };
    let different = found.as_ref().and_then(|found| first(&plain(found), &plain(expected), String::new()));
    let different = match different {
        Some(different) => Difference { field: format!("{} of {match_id}", different.field), ..different },
        // The file is correct by now: its referee was writing it.
        None => Difference {
            field: match_id.to_string(),
            found: String::from("changing"),
            expected: String::from("the log's result"),
        },
    };
    different.in_file(home.stored_match(league, match_id))
}

fn first(found: &Value, expected: &Value, field: String) -> Option<Difference> {
    match (found, expected) {
        (Value::Object(one), Value::Object(other)) => {
            let names = other.keys().chain(one.keys().filter(|name| !other.contains_key(*name)));
            let inner = |name: &str| if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") };
            names.into_iter().find_map(|name| first(&found[name], &expected[name], inner(name)))
        }
        (Value::Array(one), Value::Array(other)) => (0..one.len().max(other.len()))
            .find_map(|index| first(&found[index], &expected[index], format!("{field}[{index}]"))),
        _ if found == expected => None,
        _ => Some(Difference { field, found: found.to_string(), expected: expected.to_string() }),
    }
}
