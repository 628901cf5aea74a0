//! One file: missing, or JSON with an object at its top.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::error::{ConfigError, Warning};
use super::section::Section;

/// The longest file that is read: an entry for each of ten thousand players is a quarter of it.
const LIMIT: u64 = 16 * 1024 * 1024;

/// What editors on Windows put before a text.
const MARK: &[u8] = "\u{feff}".as_bytes();

pub(super) struct Document {
    path: PathBuf,
    value: Value,
}

impl Document {
    /// Reads the file at `path`; one that is not there is as good as an empty one.
    pub(super) fn read(path: PathBuf) -> Result<Self, ConfigError> {
        let Some(bytes) = bytes(&path).map_err(|error| ConfigError::Unreadable { path: path.clone(), error })? else {
            return Ok(Self { path, value: Value::Object(Map::new()) });
        };
        let Contents::Text(bytes) = bytes else { return Err(ConfigError::NotAFile { path }) };
        if bytes.len() as u64 > LIMIT {
            return Err(ConfigError::TooLarge { path, limit: LIMIT });
        }
        match serde_json::from_slice(bytes.strip_prefix(MARK).unwrap_or(&bytes)) {
            Ok(value) => Ok(Self { path, value }),
            Err(error) => {
                let (line, column) = (error.line(), error.column());
                let told = error.to_string();
                let what = told.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&told).to_owned();
                Err(ConfigError::Syntax { path, line, column, what })
            }
        }
    }

    /// Lets `read` take what it knows from the top, and warns of the rest.
    pub(super) fn root<T>(
        &self,
        warnings: &mut Vec<Warning>,
        read: impl FnOnce(&mut Section<'_>) -> Result<T, ConfigError>,
    ) -> Result<T, ConfigError> {
        Section::root(&self.path, &self.value, warnings, read)
    }
}

enum Contents {
    Text(Vec<u8>),
    /// A directory, or something that might never end.
    Strange,
}

fn bytes(path: &Path) -> io::Result<Option<Contents>> {
    let about = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        about => about?,
    };
    if !about.is_file() {
        return Ok(Some(Contents::Strange));
    }
    let mut text = Vec::new();
    File::open(path)?.take(LIMIT + 1).read_to_end(&mut text)?;
    Ok(Some(Contents::Text(text)))
}
