use std::time::Duration;

use smol_str::SmolStr;
use thiserror::Error;
use tokio::task::JoinError;

use crate::llm::{ModelError, Usage};

#[derive(Debug)]
pub enum StrategyOutcome {
    Chosen(SmolStr),
    Advised { played: SmolStr, asked: ModelCall },
    Fallback { played: Option<SmolStr>, because: StrategyError, asked: Option<ModelCall> },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelCall {
    pub model: String,
    pub latency: Duration,
    pub usage: Usage,
}

impl ModelCall {
    pub(super) fn failed(model: &str, latency: Duration) -> Self {
        Self { model: model.to_owned(), latency, usage: Usage::default() }
    }
}

/// The operator reads it, and it never holds a key.
#[derive(Debug, Error)]
pub enum StrategyError {
    #[error("nothing came within {budget:?}")]
    Late { budget: Duration },
    #[error("too many earlier thoughts have not come to an end")]
    Stalled,
    #[error("the strategy panicked: {0}")]
    Panicked(String),
    #[error("the strategy chose {0:?}, which is not a legal move")]
    Illegal(SmolStr),
    #[error("the model was to name a legal move, and said {0:?}")]
    Invalid(String),
    #[error("no answer from the model: {0}")]
    Unanswered(#[from] ModelError),
    #[error("this strategy asks a language model, and none is configured")]
    NoModel,
    #[cfg(feature = "test-strategies")]
    #[error("the strategy breaks a rule on purpose")]
    Misbehaves(crate::strategy::misbehaving::Misbehaviour),
}

/// How much of a peer's text is quoted, in characters.
const QUOTED: usize = 64;

impl StrategyError {
    pub(super) fn invalid(text: &str) -> Self {
        Self::Invalid(text.chars().take(QUOTED).collect())
    }

    pub(super) fn panicked(error: JoinError) -> Self {
        let Ok(panic) = error.try_into_panic() else { return Self::Panicked(String::from("it was stopped")) };
        let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Self::Panicked(text.unwrap_or("without a word").chars().take(QUOTED).collect())
    }
}
