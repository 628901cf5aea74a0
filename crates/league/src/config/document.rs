//! One configuration file: a JSON object. A missing file counts as an empty one.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use super::error::ConfigError;

/// Entries for 10,000 players take a quarter of it.
const MAX_SIZE: u64 = 16 * 1024 * 1024;
const SHOWN: usize = 60;
const DESCRIPTIVE: [&str; 5] = ["created_at", "last_updated", "log_state", "system_id", "version"];

pub(super) type Variable = (&'static str, &'static [&'static str]);

pub(super) struct Document {
    pub(super) path: PathBuf,
    pub(super) value: Value,
    pub(super) warnings: Vec<String>,
}

struct Mismatch {
    path: String,
    found: Option<String>,
    expected: String,
    unknown: Option<(Vec<String>, Vec<String>)>,
}

impl Document {
    pub(super) fn read(path: PathBuf) -> Result<Self, ConfigError> {
        let failed = |what: String| ConfigError::File { path: path.clone(), what };
        let text = match fs::metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => b"{}".to_vec(),
            Err(error) => return Err(failed(format!("cannot be read: {error}"))),
            // A pipe or a device might never end.
            Ok(about) if !about.is_file() => {
                return Err(failed(String::from("is not a file; remove it, or put a JSON file there")));
            }
            Ok(_) => {
                let mut text = Vec::new();
                let read = File::open(&path).and_then(|file| file.take(MAX_SIZE + 1).read_to_end(&mut text));
                read.map_err(|error| failed(format!("cannot be read: {error}")))?;
                text
            }
        };
        if text.len() as u64 > MAX_SIZE {
            return Err(failed(format!("has more than {MAX_SIZE} bytes")));
        }
        // Editors on Windows put a byte order mark before the text.
        let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&text);
        let mut value = serde_json::from_slice(text).map_err(|error| failed(format!("is not JSON: {error}")))?;
        clean(&mut value);
        let mut document = Self { path, value, warnings: Vec::new() };
        let Some(top) = document.value.as_object_mut() else { return Err(document.wrong("", "expected an object")) };
        if top.get("schema_version").is_some_and(|version| !version.as_str().is_some_and(|text| text.starts_with("1.")))
        {
            return Err(document.wrong("schema_version", "expected a version that begins with 1."));
        }
        top.remove("schema_version");
        Ok(document)
    }

    /// Warns of unknown keys; then overrides values by `variables`.
    ///
    /// A wrong value is an error even where a variable overrides it: otherwise the error would appear when the variable
    /// is removed.
    pub(super) fn parse<T: DeserializeOwned>(
        &mut self,
        env: &dyn Fn(&str) -> Option<String>,
        variables: &[Variable],
    ) -> Result<T, ConfigError> {
        let mut parsed = loop {
            match deserialize(&self.value) {
                Ok(parsed) => break parsed,
                Err(Mismatch { path, found, expected, unknown }) => {
                    if !unknown.is_some_and(|(place, known)| self.forget(&place, &known)) {
                        let setting = format!("{}: {path}", self.path.display());
                        return Err(ConfigError::Setting { setting, found, expected });
                    }
                }
            }
        };
        for (name, keys) in variables {
            let Some(text) = env(name) else { continue };
            // As a string or as JSON: an id may look like a number.
            let json = serde_json::from_str::<Value>(&text).ok();
            let mut outcome = self.with(keys, &Value::from(text.as_str()));
            if let (Err(_), Some(json)) = (&outcome, json) {
                outcome = self.with(keys, &json);
            }
            parsed = outcome.map_err(|Mismatch { expected, .. }| ConfigError::Setting {
                setting: String::from(*name),
                found: Some(shortened(&Value::from(text).to_string())),
                expected,
            })?;
        }
        Ok(parsed)
    }

    fn with<T: DeserializeOwned>(&mut self, keys: &[&str], value: &Value) -> Result<T, Mismatch> {
        for key in keys {
            let mut place = &mut self.value;
            for part in key.split('.') {
                place = &mut place[part];
            }
            *place = value.clone();
        }
        deserialize(&self.value)
    }

    /// Removes the key, in a list from every entry. False if there is no such key.
    fn forget(&mut self, place: &[String], known: &[String]) -> bool {
        let shown = place.iter().fold(String::new(), |shown, part| match part.as_str() {
            "[]" => format!("{shown}[]"),
            key if shown.is_empty() => shortened(key),
            key => format!("{shown}.{}", shortened(key)),
        });
        let hint = place.last().and_then(|key| nearest(key, known));
        let hint = hint.map(|known| format!("; did you mean {known}?")).unwrap_or_default();
        self.warn(format_args!("{shown} is not known and has no effect{hint}"));
        remove(&mut self.value, place)
    }

    pub(super) fn warn(&mut self, what: impl Display) {
        self.warnings.push(format!("{}: {what}", self.path.display()));
    }

    pub(super) fn wrong(&self, path: &str, expected: impl Into<String>) -> ConfigError {
        let pointer: String = path.split(['.', '[']).map(|part| format!("/{}", part.trim_end_matches(']'))).collect();
        let found = if path.is_empty() { Some(&self.value) } else { self.value.pointer(&pointer) };
        let place = if path.is_empty() { "the file" } else { path };
        let setting = format!("{}: {place}", self.path.display());
        ConfigError::Setting {
            setting,
            found: found.map(|value| shortened(&value.to_string())),
            expected: expected.into(),
        }
    }
}

/// Removes nulls, descriptive keys, and remarks, whose keys begin with `_` or `$`.
fn clean(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, value| {
                clean(value);
                !value.is_null() && !key.starts_with(['_', '$']) && !DESCRIPTIVE.contains(&key.as_str())
            });
        }
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn deserialize<T: DeserializeOwned>(value: &Value) -> Result<T, Mismatch> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let (mut path, message) = (error.path().to_string(), error.inner().to_string());
        // serde names the known keys in its message only: "unknown field `a`, expected one of `b`, `c`".
        let mut quoted = message.split('`').skip(1).step_by(2).map(str::to_owned);
        let unknown = message.starts_with("unknown field `").then(|| {
            let place = error.path().iter().map(|segment| match segment {
                Segment::Map { key } => key.clone(),
                Segment::Seq { .. } | Segment::Enum { .. } | Segment::Unknown => String::from("[]"),
            });
            (place.collect(), quoted.by_ref().skip(1).collect())
        });
        if let Some(missing) = quoted.next().filter(|_| message.starts_with("missing field `")) {
            let dot = if path == "." { "" } else { "." };
            path = format!("{}{dot}{missing}", path.trim_matches('.'));
            return Mismatch { path, found: None, expected: String::from("this key is required"), unknown };
        }
        let found = error.path().iter().try_fold(value, |value, segment| match segment {
            Segment::Map { key } => value.get(key),
            Segment::Seq { index } => value.get(index),
            Segment::Enum { .. } | Segment::Unknown => Some(value),
        });
        let expected = message.rfind("expected ").map_or(message.as_str(), |at| &message[at..]).to_owned();
        Mismatch { path, found: found.map(|value| shortened(&value.to_string())), expected, unknown }
    })
}

fn remove(value: &mut Value, place: &[String]) -> bool {
    match (value, place) {
        (Value::Object(map), [key]) => map.remove(key).is_some(),
        (Value::Object(map), [key, rest @ ..]) => map.get_mut(key).is_some_and(|inner| remove(inner, rest)),
        (Value::Array(items), [_, rest @ ..]) => {
            items.iter_mut().fold(false, |removed, item| remove(item, rest) | removed)
        }
        (_, _) => false,
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// One key contains the other, or at most every third letter differs.
fn nearest<'a>(key: &str, known: &'a [String]) -> Option<&'a String> {
    // A key may be as long as its file; comparing takes the product of both lengths.
    if key.len() > 64 {
        return None;
    }
    let steps = |known: &String| strsim::levenshtein(key, known);
    let near = |known: &&String| {
        let contains = known.contains(key) || key.contains(known.as_str());
        (contains && key.len() >= 4) || steps(known) * 3 <= key.len()
    };
    known.iter().filter(near).min_by_key(|known| steps(known))
}
