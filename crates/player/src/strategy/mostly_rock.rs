//! `mostly_rock`: throws rock half of the time, as a baseline for other strategies of rock, paper, scissors.

use league_core::session::MoveRequest;
use league_protocol::id::GameType;
use smol_str::SmolStr;

use super::{Decision, Strategy};
use crate::memory::Memory;

const THROWS: [&str; 4] = ["rock", "rock", "paper", "scissors"];

#[derive(Debug)]
pub(super) struct MostlyRock;

impl Strategy for MostlyRock {
    fn name(&self) -> &'static str {
        "mostly_rock"
    }

    fn games(&self) -> Vec<GameType> {
        "rock_paper_scissors".parse().into_iter().collect()
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision {
        Decision::Move(SmolStr::new_static(THROWS[memory.pick(request, THROWS.len())]))
    }
}
