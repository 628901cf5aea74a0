//! LEAGUE_ERROR is the `data` of every JSON-RPC error of the league.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::error::RequestError;
use crate::id::MatchId;
use crate::lenient;
use crate::time::Timestamp;

/// A refusal in full.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeagueError {
    /// `E012`.
    #[serde(default, deserialize_with = "lenient::text")]
    pub error_code: Option<SmolStr>,
    /// `AUTH_TOKEN_INVALID`.
    #[serde(default, deserialize_with = "lenient::text")]
    pub error_name: Option<SmolStr>,
    /// The name again, where most peers look for it.
    #[serde(default, deserialize_with = "lenient::text")]
    pub error_description: Option<SmolStr>,
    /// What to change, in a sentence.
    #[serde(default, deserialize_with = "lenient::text")]
    pub hint: Option<SmolStr>,
    /// The message that was refused.
    #[serde(default, deserialize_with = "lenient::text")]
    pub original_message_type: Option<SmolStr>,
    /// Whether trying again may help.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub retryable: Option<bool>,
    /// Seconds to wait before that.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
    /// The match, when its result was reported before.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub match_id: Option<MatchId>,
    /// When that result was counted.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub previous_report_time: Option<Timestamp>,
    /// Details.
    #[serde(default, deserialize_with = "lenient::value_or_default")]
    pub context: ErrorContext,
}

/// Details of a refusal. Never the token that was sent.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ErrorContext {
    /// What was asked for.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub action: Option<SmolStr>,
    /// The field that is at fault.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub field: Option<SmolStr>,
    /// The form of a token, when one is missing or wrong.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub expected_format: Option<SmolStr>,
}

const SHOWN: usize = 300;

impl LeagueError {
    /// Without control characters, which could confuse a terminal.
    pub fn for_people(&self) -> String {
        let code = self.error_code.as_deref().map(|code| format!(" ({code})")).unwrap_or_default();
        let text = self.hint.as_deref().or(self.error_description.as_deref()).unwrap_or("something is wrong");
        text.chars().chain(code.chars()).filter(|c| !c.is_control()).take(SHOWN).collect()
    }

    /// `original` is the message type of the refused request.
    pub fn of(fault: &RequestError, original: Option<&str>) -> Self {
        use crate::error::ErrorCode::{E011, E012};
        let name = fault.code.map(|code| SmolStr::new_static(code.name()));
        let token = matches!(fault.code, Some(E011 | E012));
        Self {
            error_code: fault.code.map(|code| SmolStr::new_static(code.as_str())),
            error_name: name.clone(),
            error_description: name,
            hint: Some(SmolStr::new(&fault.message)),
            original_message_type: original.map(SmolStr::new),
            retryable: Some(fault.code.is_some_and(crate::error::ErrorCode::retryable)),
            retry_after: fault.retry_after,
            match_id: fault.previous_report.as_ref().map(|(match_id, _)| match_id.clone()),
            previous_report_time: fault.previous_report.as_ref().map(|(_, at)| *at),
            context: ErrorContext {
                action: original.map(SmolStr::new),
                field: fault.field.as_deref().map(SmolStr::new),
                expected_format: token.then(|| SmolStr::new_static("tok-{agent_id}-{secret}")),
            },
        }
    }
}
