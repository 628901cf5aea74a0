//! `alternate`: even, odd, even, odd, against every opponent.

use league_core::session::{MoveRequest, PlayedMatch};
use league_protocol::parity::Parity;

use super::{Decision, Strategy};
use crate::memory::Memory;

#[derive(Debug)]
pub(super) struct Alternate;

impl Strategy for Alternate {
    fn name(&self) -> &'static str {
        "alternate"
    }

    fn choose(&self, _: &MoveRequest, memory: &Memory) -> Decision {
        let own = |played: &PlayedMatch| played.my_choice.as_deref().and_then(Parity::exact);
        let last = memory.history.matches().iter().rev().find_map(own);
        last.map_or(Parity::Even, Parity::opposite).into()
    }
}
