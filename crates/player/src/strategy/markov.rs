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
        let foreseen = predict(&memory.duels(request));
        foreseen.map_or_else(|| memory.toss(request), Parity::opposite).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bet, memory, question};

    #[test]
    fn it_sees_through_a_copycat() {
        // The opponent repeats the player's previous choice, and the player said even last.
        let memory = memory(&[("P02", "ee oe eo oe oo eo ee")]);
        assert_eq!(bet(&Markov, &question(9), &memory), Parity::Odd);
    }

    #[test]
    fn the_same_last_choice_of_theirs_means_another_thing_after_another_of_ours() {
        // After (even, even) comes odd, after (odd, even) comes even. The opponent's own choices would not show this.
        let after_even = memory(&[("P02", "ee eo oe ee eo oe oe ee")]);
        assert_eq!(bet(&Markov, &question(9), &after_even), Parity::Even);
        let after_odd = memory(&[("P02", "ee eo oe ee eo oe oe oe")]);
        assert_eq!(bet(&Markov, &question(9), &after_odd), Parity::Odd);
    }

    #[test]
    fn a_state_that_is_new_leaves_the_favourite_and_nothing_at_all_the_coin() {
        assert_eq!(bet(&Markov, &question(9), &memory(&[("P02", "ee ee oe")])), Parity::Odd);
        let nothing = memory(&[]);
        assert_eq!(bet(&Markov, &question(9), &nothing), nothing.toss(&question(9)));
    }
}
