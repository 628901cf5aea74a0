//! `defaults/referee.json` and `defaults/player.json`: what an agent is told unless it is told otherwise.

use smol_str::SmolStr;

use super::error::ConfigError;
use super::rule;
use super::section::Section;

/// What a referee is told unless it is told otherwise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RefereeDefaults {
    /// How many matches it runs at a time.
    pub(crate) max_concurrent_matches: u32,
}

/// What a player is told unless it is told otherwise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PlayerDefaults {
    pub(crate) strategy: SmolStr,
}

impl Default for RefereeDefaults {
    fn default() -> Self {
        // A match is mostly waiting: one slow player should not keep a round of ten from going on.
        Self { max_concurrent_matches: 16 }
    }
}

impl Default for PlayerDefaults {
    fn default() -> Self {
        Self { strategy: SmolStr::new_static("random") }
    }
}

impl RefereeDefaults {
    pub(super) fn read(&mut self, file: &mut Section<'_>) -> Result<(), ConfigError> {
        describe(file)?;
        file.take("max_concurrent_matches", &rule::matches(), &mut self.max_concurrent_matches)
    }
}

impl PlayerDefaults {
    pub(super) fn read(&mut self, file: &mut Section<'_>) -> Result<(), ConfigError> {
        describe(file)?;
        file.take("strategy", &rule::player_strategy(), &mut self.strategy)
    }
}

fn describe(file: &mut Section<'_>) -> Result<(), ConfigError> {
    file.get("schema_version", &rule::version("1."))?;
    file.ignore(&["last_updated", "version"]);
    // What is offered is the games registry's business; here it only must not promise what nobody can play.
    file.list("game_types", &rule::game())?;
    Ok(())
}
