use std::path::PathBuf;

use thiserror::Error;

#[derive(Debug, Error)]
pub(crate) enum ConfigError {
    #[error("{} {what}", path.display())]
    File { path: PathBuf, what: String },
    /// A setting is a file and a key, or a variable.
    #[error("{setting} is {}; {expected}", found.as_deref().unwrap_or("missing"))]
    Setting { setting: String, found: Option<String>, expected: String },
    #[error("min_players is {min} and max_players is {max}; min_players must not exceed max_players")]
    Players { min: u32, max: u32 },
}
