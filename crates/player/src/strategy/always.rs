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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bet, memory, question};

    #[test]
    fn it_is_always_the_same_whatever_happened() {
        for parity in [Parity::Even, Parity::Odd] {
            for history in ["", "eo", "ee oo eo oe"] {
                assert_eq!(bet(&Always(parity), &question(9), &memory(&[("P02", history)])), parity);
            }
        }
    }
}
