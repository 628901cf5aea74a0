//! What is wrong with a configuration, told so that it can be put right without looking anything up.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a configuration cannot be used.
#[derive(Debug, Error)]
pub(crate) enum ConfigError {
    /// It is there and cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    /// Something else is where a file belongs.
    #[error("{} is not a file; remove it, or put a JSON file there", path.display())]
    NotAFile { path: PathBuf },
    #[error("{} has more than {limit} bytes, which no configuration needs", path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("{}, line {line}, column {column}: {what}", path.display())]
    Syntax { path: PathBuf, line: usize, column: usize, what: String },
    /// A value that will not do.
    #[error("{setting} is {found}; {allowed}")]
    Wrong {
        /// File and key, or the variable.
        setting: String,
        found: String,
        allowed: String,
    },
    /// More players are demanded than there is room for.
    #[error("min_players is {least} and max_players is {most}; the first cannot be above the second")]
    Players {
        /// The fewest players that make a league.
        least: u32,
        /// The most that find a place.
        most: u32,
    },
}

/// Something in a file that has no effect, or not the one that was meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Warning {
    pub(crate) path: PathBuf,
    pub(crate) what: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)
    }
}
