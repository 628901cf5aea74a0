//! `alternate`: even, odd, even, odd, against every opponent.

use league_core::session::MoveRequest;
use league_protocol::parity::Parity;

use super::{Decision, Strategy};
use crate::memory::Memory;

#[derive(Debug)]
pub(super) struct Alternate;

impl Strategy for Alternate {
    fn name(&self) -> &'static str {
        "alternate"
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision {
        memory.last_choice(request).map_or(Parity::Even, Parity::opposite).into()
    }
}
