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
        let theirs: Vec<Parity> =
            memory.choices_against_opponent(request).into_iter().map(|duel| duel.theirs).collect();
        self.predict(&theirs).map_or_else(|| memory.toss(request), Parity::opposite).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predicted(longest: usize, period: &[Parity]) -> usize {
        let endless: Vec<Parity> = period.iter().copied().cycle().take(48).collect();
        let pattern = Pattern { longest };
        (24..48).filter(|now| pattern.predict(&endless[..*now]) == Some(endless[*now])).count()
    }

    #[test]
    fn it_finds_a_period_that_its_memory_is_long_enough_for() {
        use Parity::{Even, Odd};
        assert_eq!(predicted(1, &[Even, Odd]), 24);
        assert_eq!(predicted(2, &[Even, Even, Odd]), 24);
        assert_eq!(predicted(3, &[Even, Even, Odd, Odd, Odd]), 24);
        assert!(predicted(1, &[Even, Even, Odd, Odd]) < 24);
    }
}
