//! Whether tables are what their events make of them.

use rusqlite::types::Value;
use rusqlite::{Connection, Result};

/// Everything that events make, each told apart by its first column.
const TABLES: [&str; 4] = ["league", "players", "referees", "matches"];

/// The first thing in which the tables of `found` are not those of `expected`.
pub(crate) fn difference(found: &Connection, expected: &Connection) -> Result<Option<String>> {
    for table in TABLES {
        let query = format!("SELECT * FROM {table} ORDER BY 1");
        let (mut found, mut expected) = (found.prepare(&query)?, expected.prepare(&query)?);
        let columns: Vec<String> = expected.column_names().map(str::to_owned).collect();
        let (mut found, mut expected) = (found.query([])?, expected.query([])?);
        loop {
            let (found, expected) = (found.next()?, expected.next()?);
            let (found, expected) = match (found, expected) {
                (None, None) => break,
                (Some(found), None) => {
                    return Ok(Some(format!("{table} has a row {} too many", shown(&found.get(0)?))));
                }
                (None, Some(expected)) => return Ok(Some(format!("{table} has no row {}", shown(&expected.get(0)?)))),
                (Some(found), Some(expected)) => (found, expected),
            };
            for (index, column) in columns.iter().enumerate() {
                let (is, should): (Value, Value) = (found.get(index)?, expected.get(index)?);
                if is != should {
                    let row = shown(&expected.get(0)?);
                    let (is, should) = (shown(&is), shown(&should));
                    return Ok(Some(format!("{table}.{column} of {row} is {is}, and the events make it {should}")));
                }
            }
        }
    }
    Ok(None)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::from("nothing"),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}
