//! What `verify` says about files: which differ from the log, and which show an earlier state of it.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

/// More findings of each kind are only counted.
const MAX_LISTED: usize = 100;
/// In characters; a longer value is shortened.
const MAX_VALUE: usize = 200;

/// A file that no state of the log explains.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FileDifference {
    pub path: PathBuf,
    pub field: String,
    pub found: String,
    /// What the log says.
    pub expected: String,
}

impl fmt::Display for FileDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, field, found, expected } = self;
        write!(f, "{} does not agree with the log: {field} is {found}, expected {expected}", path.display())
    }
}

/// A file that shows an earlier state of the log, or lacks something that the log does not have.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StaleFile {
    pub path: PathBuf,
    pub reason: String,
}

impl fmt::Display for StaleFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is stale: {}", self.path.display(), self.reason)
    }
}

/// The first findings of each kind, and the number of all.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) differences: Vec<FileDifference>,
    pub(super) stale: Vec<StaleFile>,
    pub(super) different: u64,
    pub(super) outdated: u64,
}

impl Findings {
    pub(super) fn differs(&mut self, path: &Path, field: &str, found: impl Into<String>, expected: impl Into<String>) {
        self.different += 1;
        if self.differences.len() < MAX_LISTED {
            let (found, expected) = (shortened(found.into()), shortened(expected.into()));
            self.differences.push(FileDifference { path: path.to_owned(), field: field.to_owned(), found, expected });
        }
    }

    pub(super) fn stale(&mut self, path: &Path, reason: impl Into<String>) {
        self.outdated += 1;
        if self.stale.len() < MAX_LISTED {
            self.stale.push(StaleFile { path: path.to_owned(), reason: reason.into() });
        }
    }

    pub(super) fn unreadable(&mut self, path: &Path, reason: &dyn fmt::Display) {
        self.differs(path, "the file", format!("unreadable ({reason})"), "what the log gives");
    }

    /// Compares two texts of one JSON document. Other whitespace alone makes a file stale.
    pub(super) fn compare(&mut self, path: &Path, found: &[u8], expected: &[u8]) {
        let parsed = match serde_json::from_slice::<Value>(found) {
            Ok(parsed) => parsed,
            Err(error) => return self.unreadable(path, &error),
        };
        let expected = serde_json::from_slice(expected).unwrap_or_default();
        match first(&parsed, &expected, String::new()) {
            Some((field, found, expected)) => self.differs(path, &field, found, expected),
            None => self.stale(path, "its fields are right, but another program wrote its text"),
        }
    }
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The first field in which two documents differ, and its two values.
pub(super) fn first(found: &Value, expected: &Value, field: String) -> Option<(String, String, String)> {
    match (found, expected) {
        (Value::Object(one), Value::Object(other)) => {
            let names = other.keys().chain(one.keys().filter(|name| !other.contains_key(*name)));
            let inner = |name: &str| if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") };
            names.into_iter().find_map(|name| match (one.get(name), other.get(name)) {
                (Some(found), Some(expected)) => first(found, expected, inner(name)),
                (found, expected) => Some((inner(name), shown(found), shown(expected))),
            })
        }
        (Value::Array(one), Value::Array(other)) => (0..one.len().max(other.len())).find_map(|index| {
            let inner = format!("{field}[{index}]");
            match (one.get(index), other.get(index)) {
                (Some(found), Some(expected)) => first(found, expected, inner),
                (found, expected) => Some((inner, shown(found), shown(expected))),
            }
        }),
        _ if found == expected => None,
        _ => Some((field, found.to_string(), expected.to_string())),
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| String::from("missing"), Value::to_string)
}
