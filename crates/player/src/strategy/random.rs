//! `random`: a random legal move of any game. In Even/Odd it earns 1.25 points a match against every opponent.

use league_core::rules::registry::all_games;
use league_core::session::MoveRequest;
use league_protocol::id::GameType;

use super::{Decision, Strategy};
use crate::memory::Memory;

#[derive(Debug)]
pub(super) struct Random;

impl Strategy for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn games(&self) -> Vec<GameType> {
        all_games()
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision {
        Decision::Move(memory.random_move(request).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::testing::{memory, question};

    #[test]
    fn every_legal_move_is_chosen_and_a_seed_repeats_the_choice() {
        let memory = memory(&[]);
        let request = |number| MoveRequest { legal_moves: ["1", "5", "9"].map(Into::into).into(), ..question(number) };
        let chosen = |number| {
            let Decision::Move(text) = Random.choose(&request(number), &memory) else { panic!("random does not move") };
            text
        };
        assert_eq!((1..=40).map(chosen).collect::<HashSet<_>>().len(), 3);
        assert!((1..=40).all(|number| chosen(number) == chosen(number)));
    }
}
