//! `llm`: asks a language model for a move of any game. [`Prompt`] is what the model reads.

use league_core::rules::registry::all_games;
use league_core::session::MoveRequest;
use league_protocol::id::GameType;

use super::{Decision, Strategy};
use crate::llm::Prompt;
use crate::memory::Memory;

#[derive(Debug)]
pub(super) struct AskModel;

impl Strategy for AskModel {
    fn name(&self) -> &'static str {
        "llm"
    }

    fn games(&self) -> Vec<GameType> {
        all_games()
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision {
        Decision::Ask(Prompt::about(request, memory))
    }
}
