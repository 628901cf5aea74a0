//! An object in a file, from which values are taken by their keys.
//!
//! What is asked for is thereby known: when a section has been read, every other key in it is warned of, with the known
//! one that is nearest. So no list of keys is kept beside the code that reads them.

use std::path::Path;

use serde_json::{Map, Value};

use super::error::{ConfigError, Warning};
use super::nearest::nearest;
use super::rule::{self, Rule};

pub(super) struct Section<'a> {
    file: &'a Path,
    /// Where it is in the file: `players[3]`; empty at the top.
    path: String,
    /// The same for all entries of a list: `players[]`. What is wrong with all of them is told once.
    kind: String,
    entries: Option<&'a Map<String, Value>>,
    known: Vec<&'static str>,
    /// Whether any key may stand here.
    open: bool,
    warnings: &'a mut Vec<Warning>,
}

impl Section<'_> {
    /// Lets `read` take what it knows from the object `value`, and warns of the rest.
    pub(super) fn root<T>(
        file: &Path,
        value: &Value,
        warnings: &mut Vec<Warning>,
        read: impl FnOnce(&mut Section<'_>) -> Result<T, ConfigError>,
    ) -> Result<T, ConfigError> {
        let top = Place { path: String::new(), kind: String::new() };
        enter(file, top, Some(value), warnings, read)
    }

    /// The value at `key`, when there is one.
    pub(super) fn get<T>(&mut self, key: &'static str, rule: &Rule<T>) -> Result<Option<T>, ConfigError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        rule.value(|| self.setting(key), value).map(Some)
    }

    /// Replaces `target` by the value at `key`, when there is one.
    pub(super) fn take<T>(&mut self, key: &'static str, rule: &Rule<T>, target: &mut T) -> Result<(), ConfigError> {
        if let Some(value) = self.get(key, rule)? {
            *target = value;
        }
        Ok(())
    }

    /// The value at `key`, which must be there.
    pub(super) fn need<T>(&mut self, key: &'static str, rule: &Rule<T>) -> Result<T, ConfigError> {
        self.get(key, rule)?.ok_or_else(|| self.wrong(key, "missing", rule.allowed()))
    }

    /// The values of the list at `key`, when there is one.
    pub(super) fn list<T>(&mut self, key: &'static str, rule: &Rule<T>) -> Result<Option<Vec<T>>, ConfigError> {
        let Some(values) = self.items(key)? else { return Ok(None) };
        let read = |(index, value)| rule.value(|| format!("{}[{index}]", self.setting(key)), value);
        values.iter().enumerate().map(read).collect::<Result<_, _>>().map(Some)
    }

    /// Makes keys known that say something about the file and nothing to us.
    pub(super) fn ignore(&mut self, keys: &[&'static str]) {
        self.known.extend(keys);
    }

    /// Lets every key stand here, and gives those that do.
    pub(super) fn open(&mut self) -> Vec<String> {
        self.open = true;
        self.entries.map(|entries| entries.keys().cloned().collect()).unwrap_or_default()
    }

    /// Whether the value at `key` is an object.
    pub(super) fn has_object(&self, key: &str) -> bool {
        self.entries.and_then(|entries| entries.get(key)).is_some_and(Value::is_object)
    }

    /// Lets `read` take what it knows from the object at `key`, which is empty when it is not there.
    pub(super) fn within<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Section<'_>) -> Result<T, ConfigError>,
    ) -> Result<T, ConfigError> {
        let place = Place { path: self.below(&self.path, key), kind: self.below(&self.kind, key) };
        let value = self.value(key);
        enter(self.file, place, value, self.warnings, read)
    }

    /// Lets `read` make something of each object in the list at `key`.
    pub(super) fn each<T>(
        &mut self,
        key: &'static str,
        mut read: impl FnMut(&mut Section<'_>) -> Result<T, ConfigError>,
    ) -> Result<Vec<T>, ConfigError> {
        let Some(values) = self.items(key)? else { return Ok(Vec::new()) };
        let (path, kind) = (self.below(&self.path, key), self.below(&self.kind, key));
        let mut made = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            let place = Place { path: format!("{path}[{index}]"), kind: format!("{kind}[]") };
            made.push(enter(self.file, place, Some(value), self.warnings, &mut read)?);
        }
        Ok(made)
    }

    /// Warns of something at `key`.
    pub(super) fn warn(&mut self, key: &str, what: &str) {
        let what = format!("{} {what}", self.below(&self.path, key));
        self.warnings.push(Warning { path: self.file.to_owned(), what });
    }

    /// The error that `key` is `found`, which will not do.
    pub(super) fn wrong(&self, key: &str, found: &str, allowed: &str) -> ConfigError {
        ConfigError::Wrong {
            setting: self.setting(key),
            found: rule::shortened(found.to_owned()),
            allowed: allowed.to_owned(),
        }
    }

    fn setting(&self, key: &str) -> String {
        format!("{}: {}", self.file.display(), self.below(&self.path, key))
    }

    fn below(&self, path: &str, key: &str) -> String {
        if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
    }
}

impl<'a> Section<'a> {
    /// What is at `key`; null says the same as nothing.
    fn value(&mut self, key: &'static str) -> Option<&'a Value> {
        self.known.push(key);
        self.entries?.get(key).filter(|value| !value.is_null())
    }

    /// What is in the list at `key`.
    fn items(&mut self, key: &'static str) -> Result<Option<&'a [Value]>, ConfigError> {
        match self.value(key) {
            Some(Value::Array(values)) => Ok(Some(values)),
            Some(other) => Err(rule::wrong(self.setting(key), other, "allowed is a list")),
            None => Ok(None),
        }
    }

    /// Warns of every key that nobody asked for. Those that begin with `_` or `$` are remarks.
    fn close(self) {
        if self.open {
            return;
        }
        let strange = |key: &&String| !self.known.contains(&key.as_str()) && !key.starts_with(['_', '$']);
        for key in self.entries.into_iter().flat_map(Map::keys).filter(strange) {
            let hint = match nearest(key, &self.known) {
                Some(known) => format!("; did you mean {known}?"),
                None => String::new(),
            };
            let what = format!(
                "{} is not known here and has no effect{hint}",
                self.below(&self.kind, &rule::shortened(key.clone()))
            );
            let warning = Warning { path: self.file.to_owned(), what };
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }
}

/// Where a section is, exactly and among its like.
struct Place {
    path: String,
    kind: String,
}

fn enter<T>(
    file: &Path,
    place: Place,
    value: Option<&Value>,
    warnings: &mut Vec<Warning>,
    read: impl FnOnce(&mut Section<'_>) -> Result<T, ConfigError>,
) -> Result<T, ConfigError> {
    let setting = || match place.path.as_str() {
        "" => format!("{}: the whole", file.display()),
        path => format!("{}: {path}", file.display()),
    };
    let entries = match value {
        Some(Value::Object(entries)) => Some(entries),
        Some(other) => return Err(rule::wrong(setting(), other, "allowed is an object")),
        None => None,
    };
    let mut section =
        Section { file, path: place.path, kind: place.kind, entries, known: Vec::new(), open: false, warnings };
    let made = read(&mut section)?;
    section.close();
    Ok(made)
}
