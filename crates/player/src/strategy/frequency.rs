//! `frequency`: the opposite of the opponent's most frequent choice.
//!
//! The less frequent choice is better however small the difference, and costs nothing against a random opponent.

use league_core::session::MoveRequest;

use super::tally::Tally;
use super::{Decision, Strategy};
use crate::memory::Memory;

#[derive(Debug)]
pub(super) struct Frequency;

impl Strategy for Frequency {
    fn name(&self) -> &'static str {
        "frequency"
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision {
        let tally: Tally = memory.informative_duels(request).into_iter().map(|duel| duel.choices.theirs).collect();
        tally.majority().map_or_else(|| memory.toss(request), |favourite| favourite.opposite()).into()
    }
}
