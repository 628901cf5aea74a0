//! `llm`: ask a language model. What it is told is in [`Prompt`]; who it is, is configured with the thinker.

use league_core::session::StrategyQuestion;

use super::{Decision, Strategy};
use crate::llm::Prompt;
use crate::memory::Memory;

#[derive(Debug)]
pub(super) struct AskModel;

impl Strategy for AskModel {
    fn name(&self) -> &'static str {
        "llm"
    }

    fn choose(&self, question: &StrategyQuestion, memory: &Memory) -> Decision {
        Decision::Ask(Prompt::about(question, memory))
    }
}
