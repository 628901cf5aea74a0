//! `frequency`: the opposite of the opponent's most frequent choice.
//!
//! Equal choices always draw and pay 1 point; different ones pay 3 or 0 with equal chance, 1.5 on average. Against an opponent
//! that says even with probability p, odd pays 1 + p/2 and even 1 + (1 − p)/2. So the less frequent choice is better however
//! small the difference, and costs nothing against a random opponent.

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

    // In histories the first letter is the player's choice and the second the opponent's.

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
