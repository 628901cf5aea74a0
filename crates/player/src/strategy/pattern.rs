//! `pattern`: looks up what followed the opponent's last choices before, and says the opposite.
//!
//! The longest run of choices with a majority decides. The shortest run is empty, which equals `frequency`.

use league_core::session::MoveRequest;
use league_protocol::parity::Parity;

use super::tally::Tally;
use super::{Decision, Strategy};
use crate::memory::Memory;

#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) longest: usize,
}

impl Pattern {
    fn predict(&self, choices: &[Parity]) -> Option<Parity> {
        (0..=self.longest.min(choices.len())).rev().find_map(|length| {
            let last = &choices[choices.len() - length..];
            let followers = choices.windows(length + 1).filter(|window| window.starts_with(last));
            followers.filter_map(|window| window.last().copied()).collect::<Tally>().majority()
        })
    }
}

impl Strategy for Pattern {
    fn name(&self) -> &'static str {
        "pattern"
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision {
        let theirs: Vec<Parity> = memory.duels(request).into_iter().map(|duel| duel.theirs).collect();
        self.predict(&theirs).map_or_else(|| memory.toss(request), Parity::opposite).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bet, memory, question};

    fn foreseen(longest: usize, period: &[Parity]) -> usize {
        let endless: Vec<Parity> = period.iter().copied().cycle().take(48).collect();
        let pattern = Pattern { longest };
        (24..48).filter(|now| pattern.predict(&endless[..*now]) == Some(endless[*now])).count()
    }

    #[test]
    fn it_finds_a_period_that_its_memory_is_long_enough_for() {
        use Parity::{Even, Odd};
        assert_eq!(foreseen(1, &[Even, Odd]), 24);
        assert_eq!(foreseen(2, &[Even, Even, Odd]), 24);
        assert_eq!(foreseen(3, &[Even, Even, Odd, Odd, Odd]), 24);
        assert!(foreseen(1, &[Even, Even, Odd, Odd]) < 24);
    }

    #[test]
    fn it_says_the_opposite_of_what_it_foresees() {
        let memory = memory(&[("P02", "ee eo ee eo ee eo")]);
        assert_eq!(bet(&Pattern { longest: 3 }, &question(9), &memory), Parity::Odd);
    }

    #[test]
    fn without_a_pattern_it_is_frequency_and_without_a_history_a_coin() {
        assert_eq!(bet(&Pattern { longest: 3 }, &question(9), &memory(&[("P02", "ee")])), Parity::Odd);
        let nothing = memory(&[]);
        for number in 1..20 {
            let question = question(number);
            assert_eq!(bet(&Pattern { longest: 3 }, &question, &nothing), nothing.toss(&question));
        }
    }
}
