//! `highest`: the last legal move, which is the highest number.

use league_core::session::MoveRequest;
use league_protocol::id::GameType;

use super::{Decision, Strategy};
use crate::memory::Memory;

#[derive(Debug)]
pub(super) struct Highest;

impl Strategy for Highest {
    fn name(&self) -> &'static str {
        "highest"
    }

    fn games(&self) -> Vec<GameType> {
        league_core::rules::registry::all_games()
    }

    fn choose(&self, request: &MoveRequest, _: &Memory) -> Decision {
        Decision::Move(request.legal_moves.last().cloned().unwrap_or_default())
    }
}
