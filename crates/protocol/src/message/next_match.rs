//! The long poll of referees that pull: they take their matches from answers, because the manager cannot call them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::start_match::StartMatch;
use crate::id::{LeagueId, MatchId, PlayerId};
use crate::lenient;

/// Attempts by match: `{"R1M1": 1}`.
pub type Attempts = BTreeMap<MatchId, u32>;

/// A referee that pulls asks for its next match.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct NextMatch {
    /// The league.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The attempts that it has, by match; others of its own come again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub holding: Attempts,
    /// The attempts that it gives back.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub returned: Attempts,
    /// Players of these that would post their answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub posting: Vec<PlayerId>,
    /// It takes no more matches; answered at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leaving: bool,
}

/// What the referee does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum NextStep {
    /// Play `start_match`.
    Match,
    /// Ask again at once.
    Wait,
    /// The league is over.
    Over,
}

/// A match, or nothing for now.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NextMatchAnswer {
    /// What to do.
    pub status: NextStep,
    /// A START_MATCH.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyObject>")]
    pub start_match: Option<Box<StartMatch>>,
}

/// START_MATCH is described once, as a call.
pub(crate) type AnyObject = serde_json::Map<String, serde_json::Value>;
