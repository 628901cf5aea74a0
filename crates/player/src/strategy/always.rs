//! `always_even`, `always_odd`: the same choice every time, as a baseline for other strategies.

use league_core::session::MoveRequest;
use league_protocol::parity::Parity;

use super::{Decision, Strategy};
use crate::memory::Memory;

#[derive(Debug)]
pub(super) struct Always(pub(super) Parity);

impl Strategy for Always {
    fn name(&self) -> &'static str {
        match self.0 {
            Parity::Even => "always_even",
            Parity::Odd => "always_odd",
        }
    }

    fn choose(&self, _: &MoveRequest, _: &Memory) -> Decision {
        self.0.into()
    }
}
