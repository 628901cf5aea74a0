//! `markov`: predicts what this opponent does after a match like the last one, and says the opposite.
//!
//! The state is what *both* players chose in the last match, so it predicts opponents that react to the player: copying,
//! contradicting, or changing after a loss. `pattern` uses only the opponent's own choices.

use league_core::session::MoveRequest;
use league_protocol::parity::Parity;

use super::tally::Tally;
use super::{Decision, Strategy};
use crate::memory::{Choices, Memory};

#[derive(Debug)]
pub(super) struct Markov;

fn predict(duels: &[Choices]) -> Option<Parity> {
    let state = duels.last()?;
    let steps = duels.iter().zip(duels.iter().skip(1)).filter(|(before, _)| *before == state);
    let after_this: Tally = steps.map(|(_, after)| after.theirs).collect();
    // A state without a majority predicts nothing; then the opponent's most frequent choice decides.
    after_this.majority().or_else(|| duels.iter().map(|duel| duel.theirs).collect::<Tally>().majority())
}

impl Strategy for Markov {
    fn name(&self) -> &'static str {
        "markov"
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision {
        let foreseen = predict(&memory.choices_against_opponent(request));
        foreseen.map_or_else(|| memory.toss(request), Parity::opposite).into()
    }
}
