//! What came of thinking.

use std::time::Duration;

use league_protocol::parity::Parity;
use thiserror::Error;
use tokio::task::JoinError;

use crate::llm::{ModelError, Usage};
use crate::strategy::Behaviour;

#[derive(Debug)]
pub enum StrategyOutcome {
    Chosen(Parity),
    Advised {
        parity: Parity,
        /// Which model, how long it took and what it cost.
        asked: ModelCall,
    },
    /// The strategy failed, and the coin chose this.
    Fallback {
        parity: Parity,
        because: StrategyError,
        /// The model that was asked, where the strategy asks one.
        asked: Option<ModelCall>,
    },
    /// The strategy wants the agent to do this.
    Misbehave(Behaviour),
}

impl StrategyOutcome {
    /// What to answer, where an answer is to be given at once.
    pub fn parity(&self) -> Option<Parity> {
        match self {
            Self::Chosen(parity) | Self::Advised { parity, .. } | Self::Fallback { parity, .. } => Some(*parity),
            Self::Misbehave(_) => None,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelCall {
    pub model: String,
    /// How long it was waited for.
    pub latency: Duration,
    pub usage: Usage,
}

impl ModelCall {
    /// A model that gave no answer that counts.
    pub(super) fn failed(model: &str, latency: Duration) -> Self {
        Self { model: model.to_owned(), latency, usage: Usage::default() }
    }
}

/// Why the coin had to choose. Told to the operator, and never holding a key.
#[derive(Debug, Error)]
pub enum StrategyError {
    #[error("nothing came within {budget:?}")]
    Late { budget: Duration },
    /// Earlier thoughts have not ended, and too many of them.
    #[error("too many earlier thoughts have not come to an end")]
    Stalled,
    #[error("the strategy panicked: {0}")]
    Panicked(String),
    /// What the model said is not one of the two words.
    #[error("the model was to say even or odd, and said {0:?}")]
    Invalid(String),
    #[error("no answer from the model: {0}")]
    Unanswered(#[from] ModelError),
    /// There is no model to ask.
    #[error("this strategy asks a language model, and none is configured")]
    NoModel,
}

/// How much of a text that others wrote is told, in characters.
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
