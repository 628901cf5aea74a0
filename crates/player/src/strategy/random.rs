//! `random`: a toss of the coin. It earns 1.25 points a match against anybody, and nobody can do anything about it.

use league_core::session::StrategyQuestion;

use super::{Decision, Strategy};
use crate::memory::Memory;

#[derive(Debug)]
pub(super) struct Random;

impl Strategy for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn choose(&self, question: &StrategyQuestion, memory: &Memory) -> Decision {
        Decision::Bet(memory.toss(question))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bet, memory, question};
    use league_protocol::parity::Parity;

    #[test]
    fn both_come_up_and_a_question_always_gets_the_same_under_a_seed() {
        let memory = memory(&[]);
        let bets: Vec<Parity> = (1..=40).map(|number| bet(&Random, &question(number), &memory)).collect();
        assert!(bets.contains(&Parity::Even) && bets.contains(&Parity::Odd));
        let again: Vec<Parity> = (1..=40).map(|number| bet(&Random, &question(number), &memory)).collect();
        assert_eq!(bets, again);
    }
}
