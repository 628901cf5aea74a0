//! A player's motto.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// What a player says about itself.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Motto {
    /// One sentence.
    #[serde(default)]
    pub motto: SmolStr,
}
