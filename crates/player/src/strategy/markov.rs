//! `markov`: how does this opponent go on after a match like our last one? The opposite of that.
//!
//! The state is what *both* chose in the last match, so it sees through opponents that react to us: copycats, contrarians, and
//! those who stay after a win and shift after a loss. `pattern` sees only what they do by themselves.

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
    // A state that was never left, or left both ways equally often, says nothing: then the favourite does.
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
        // The opponent says what we said the time before, and we said even last.
        let memory = memory(&[("P02", "ee oe eo oe oo eo ee")]);
        assert_eq!(bet(&Markov, &question(9), &memory), Parity::Odd);
    }

    #[test]
    fn the_same_last_choice_of_theirs_means_another_thing_after_another_of_ours() {
        // After (even, even) comes odd, after (odd, even) comes even: the opponent's own choices would not tell.
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
