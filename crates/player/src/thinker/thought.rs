//! What came of thinking.

use std::time::Duration;

use league_protocol::parity::Parity;
use thiserror::Error;
use tokio::task::JoinError;

use crate::llm::{Unanswered, Usage};
use crate::strategy::Behaviour;

/// What came of thinking.
#[derive(Debug)]
pub enum Thought {
    /// The strategy chose this.
    Chosen(Parity),
    /// A language model chose this.
    Advised {
        /// What it chose.
        parity: Parity,
        /// Which model, how long it took and what it cost.
        asked: Consulted,
    },
    /// The strategy failed, and the coin chose this.
    Fallback {
        /// What the coin chose.
        parity: Parity,
        /// What went wrong.
        because: Trouble,
        /// The model that was asked, where the strategy asks one.
        asked: Option<Consulted>,
    },
    /// The strategy wants the agent to do this.
    Misbehave(Behaviour),
}

impl Thought {
    /// What to answer, where an answer is to be given at once.
    pub fn parity(&self) -> Option<Parity> {
        match self {
            Self::Chosen(parity) | Self::Advised { parity, .. } | Self::Fallback { parity, .. } => Some(*parity),
            Self::Misbehave(_) => None,
        }
    }
}

/// A model that was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Consulted {
    /// What it is called.
    pub model: String,
    /// How long it was waited for.
    pub latency: Duration,
    /// What its answer cost.
    pub usage: Usage,
}

impl Consulted {
    /// A model that gave no answer that counts.
    pub(super) fn failed(model: &str, latency: Duration) -> Self {
        Self { model: model.to_owned(), latency, usage: Usage::default() }
    }
}

/// Why the coin had to choose. Told to the operator, and never holding a key.
#[derive(Debug, Error)]
pub enum Trouble {
    /// Nothing came in time.
    #[error("nothing came within {budget:?}")]
    Late {
        /// The time that there was.
        budget: Duration,
    },
    /// Earlier thoughts have not ended, and too many of them.
    #[error("too many earlier thoughts have not come to an end")]
    Stalled,
    /// The strategy panicked.
    #[error("the strategy panicked: {0}")]
    Panicked(String),
    /// What the model said is not one of the two words.
    #[error("the model was to say even or odd, and said {0:?}")]
    Invalid(String),
    /// The model gave no answer.
    #[error("no answer from the model: {0}")]
    Unanswered(#[from] Unanswered),
    /// There is no model to ask.
    #[error("this strategy asks a language model, and none is configured")]
    NoModel,
}

/// How much of a text that others wrote is told, in characters.
const QUOTED: usize = 64;

impl Trouble {
    pub(super) fn invalid(text: &str) -> Self {
        Self::Invalid(text.chars().take(QUOTED).collect())
    }

    pub(super) fn panicked(error: JoinError) -> Self {
        let Ok(panic) = error.try_into_panic() else { return Self::Panicked(String::from("it was stopped")) };
        let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Self::Panicked(text.unwrap_or("without a word").chars().take(QUOTED).collect())
    }
}
