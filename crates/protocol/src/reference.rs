//! Renders the tables of PROTOCOL.md, which holds them between `<!-- generated: NAME -->` and `<!-- end -->`; a test compares the two.

use crate::error::ErrorCode;
use crate::message::query::QueryType;
use crate::quirk::Quirk;
use crate::sender::Role;
use crate::table::{Access, CallRow, Method, TABLE};

#[derive(Clone, Copy, Debug)]
pub struct ReferenceSection {
    /// The name in the document's marker.
    pub name: &'static str,
    pub render: fn() -> String,
}

pub static SECTIONS: &[ReferenceSection] = &[
    ReferenceSection { name: "calls", render: calls },
    ReferenceSection { name: "errors", render: errors },
    ReferenceSection { name: "families", render: families },
    ReferenceSection { name: "queries", render: queries },
    ReferenceSection { name: "quirks", render: quirks },
];

pub fn calls() -> String {
    let mut table = Table::new(["message", "from → to", "method (aliases)", "answer", "time", "shows"]);
    for row in TABLE {
        table.row([
            row.message.unwrap_or("–").to_owned(),
            format!("{} → {}", roles(row.from), roles(row.to)),
            spellings(row),
            row.answer.unwrap_or("–").to_owned(),
            format!("{} s", row.limit.default_span().as_secs()),
            String::from(credential_text(row.access)),
        ]);
    }
    table.text
}

pub fn errors() -> String {
    let mut table = Table::new(["code", "name", "JSON-RPC number", "retryable"]);
    for code in ErrorCode::ALL {
        let mut numbers = vec![code.rpc(None)];
        numbers.extend(TABLE.iter().map(|row| code.rpc(Some(row.method))));
        numbers.sort_unstable();
        numbers.dedup();
        table.row([
            code.as_str().to_owned(),
            format!("`{}`", code.name()),
            listed(&numbers),
            String::from(if code.retryable() { "yes" } else { "no" }),
        ]);
    }
    table.text
}

pub fn families() -> String {
    let mut table = Table::new(["numbers", "in answer to", "codes"]);
    for family in 1..=9 {
        let members: Vec<&CallRow> = TABLE.iter().filter(|row| row.family == Some(family)).collect();
        let Some(first) = members.first() else { continue };
        let names: Vec<_> = members.iter().map(|row| format!("`{}`", row.name)).collect();
        table.row([format!("{family}xxx"), names.join(", "), numbered(first.method, family)]);
    }
    table.text
}

fn numbered(method: Method, family: i32) -> String {
    let codes = ErrorCode::ALL.iter().map(|code| (code.rpc(Some(method)), code.as_str()));
    let mut own: Vec<_> = codes.filter(|(number, _)| number / 1000 == family).collect();
    own.sort_unstable();
    let same = own.chunk_by(|(number, _), (next, _)| number == next);
    let texts: Vec<_> = same
        .map(|codes| {
            let names: Vec<_> = codes.iter().map(|(_, code)| *code).collect();
            format!("{} {}", codes[0].0, names.join("/"))
        })
        .collect();
    texts.join(", ")
}

pub fn queries() -> String {
    let names: Vec<_> = QueryType::ALL.iter().map(|query| format!("`{}`", wire_name(query))).collect();
    format!("{}\n", names.join(" · "))
}

pub fn quirks() -> String {
    let mut table = Table::new(["quirk", "seen", "better"]);
    for quirk in Quirk::ALL {
        let name = wire_name(quirk);
        table.row([format!("`{name}`"), quirk.what().to_owned(), quirk.advice().to_owned()]);
    }
    table.text
}

fn spellings(row: &CallRow) -> String {
    let aliases: Vec<_> = row.aliases.iter().map(|alias| format!("`{alias}`")).collect();
    if aliases.is_empty() { format!("`{}`", row.name) } else { format!("`{}` ({})", row.name, aliases.join(", ")) }
}

fn credential_text(access: Access) -> &'static str {
    match access {
        Access::Open => "nothing",
        Access::JoinKey => "join key, if any",
        Access::Token => "own token",
        Access::Pass => "pass",
        Access::Operator => "operator's token",
    }
}

fn roles(roles: &[Role]) -> String {
    let has = |role: &Role| roles.contains(role);
    match ([Role::Manager, Role::Referee, Role::Player].iter().all(has), has(&Role::Operator)) {
        (true, true) => String::from("anyone"),
        (true, false) => String::from("any agent"),
        (false, _) => listed(roles),
    }
}

fn listed<T: ToString>(things: &[T]) -> String {
    things.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// The serialized name of a unit variant.
fn wire_name(unit: &impl serde::Serialize) -> String {
    serde_json::to_value(unit).ok().as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}

struct Table<const COLUMNS: usize> {
    text: String,
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    fn new(titles: [&str; COLUMNS]) -> Self {
        let text = format!("| {} |\n|{}\n", titles.join(" | "), "---|".repeat(COLUMNS));
        Self { text }
    }

    fn row(&mut self, cells: [String; COLUMNS]) {
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        self.text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_calls_of_a_family_have_the_same_error_numbers() {
        for row in TABLE {
            let Some(family) = row.family else { continue };
            let first = TABLE.iter().find(|other| other.family == Some(family)).unwrap();
            assert_eq!(numbered(row.method, family), numbered(first.method, family), "{}", row.name);
        }
    }

    #[test]
    fn every_row_of_every_declaration_is_shown() {
        let lines = |text: String| text.lines().count() - 2;
        assert_eq!(lines(calls()), TABLE.len());
        assert_eq!(lines(errors()), ErrorCode::ALL.len());
        assert_eq!(lines(quirks()), Quirk::ALL.len());
        assert_eq!(lines(families()), 6);
        assert_eq!(queries().matches('`').count(), 2 * QueryType::ALL.len());
    }

    #[test]
    fn the_reference_tables_have_the_rows_of_the_profile() {
        let row = "| GAME_INVITATION | referee → player | `handle_game_invitation` (`game_invitation`, \
                   `receive_game_invitation`) | GAME_JOIN_ACK | 5 s | pass |";
        assert!(calls().lines().any(|line| line == row), "{}", calls());
        assert!(errors().contains("| E020 | `LEAGUE_FULL` | 20, 1001, 2001 | no |"), "{}", errors());
        assert!(families().contains("5001 E011/E012, 5002 E007"), "{}", families());
    }
}
