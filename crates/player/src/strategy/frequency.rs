//! `frequency`: whatever the opponent says most often, say the other.
//!
//! Copying the opponent's favourite would be the natural mistake: equal choices are always a draw and pay 1 point, different
//! ones pay 3 or 0 with equal chance, 1.5 on average. An opponent that says even with probability p pays 1 + p/2 to odd and
//! 1 + (1 − p)/2 to even, so whoever is asked avoids the more common choice, however small the lead. Against a coin nothing
//! is lost by it.

use league_core::session::MoveRequest;

use super::tally::Tally;
use super::{Decision, Strategy};
use crate::memory::{Choices, Memory};

#[derive(Debug)]
pub(super) struct Frequency;

impl Strategy for Frequency {
    fn name(&self) -> &'static str {
        "frequency"
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision {
        let telling = memory.telling(request).into_iter();
        let tally: Tally = telling.filter_map(Choices::of).map(|choices| choices.theirs).collect();
        tally.majority().map_or_else(|| memory.toss(request), |favourite| favourite.opposite()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bet, memory, question};
    use league_protocol::parity::Parity;

    // In histories the first letter is ours and the second the opponent's.

    #[test]
    fn it_avoids_what_the_opponent_says_most() {
        assert_eq!(bet(&Frequency, &question(9), &memory(&[("P02", "oe oe eo")])), Parity::Odd);
        assert_eq!(bet(&Frequency, &question(9), &memory(&[("P02", "eo eo ee")])), Parity::Even);
    }

    #[test]
    fn the_opponent_itself_counts_and_not_the_others() {
        let memory = memory(&[("P03", "eo eo eo eo"), ("P02", "ee")]);
        assert_eq!(bet(&Frequency, &question(9), &memory), Parity::Odd);
    }

    #[test]
    fn a_stranger_is_taken_for_one_of_the_field() {
        assert_eq!(bet(&Frequency, &question(9), &memory(&[("P03", "eo eo"), ("P04", "eo")])), Parity::Even);
    }

    #[test]
    fn between_equals_the_coin_decides() {
        let memory = memory(&[("P02", "ee oo")]);
        for number in 5..30 {
            assert_eq!(bet(&Frequency, &question(number), &memory), memory.toss(&question(number)));
        }
    }
}
