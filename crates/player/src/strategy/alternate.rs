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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bet, memory, question};

    #[test]
    fn it_begins_with_even_and_goes_to_the_other_side_each_time() {
        assert_eq!(bet(&Alternate, &question(9), &memory(&[])), Parity::Even);
        assert_eq!(bet(&Alternate, &question(9), &memory(&[("P02", "eo")])), Parity::Odd);
        assert_eq!(bet(&Alternate, &question(9), &memory(&[("P02", "eo oo")])), Parity::Even);
    }

    #[test]
    fn it_alternates_across_opponents() {
        assert_eq!(bet(&Alternate, &question(9), &memory(&[("P02", "eo"), ("P03", "oe")])), Parity::Even);
    }
}
