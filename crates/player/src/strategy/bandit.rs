//! `bandit`: UCB1 with two arms, even and odd.
//!
//! It uses only its own points and not the opponent's choices. So it learns slower than `frequency`, but adapts to any payoffs.
//! An arm's score is its mean plus a margin that shrinks with the number of tries. The choice follows from the history; chance
//! only breaks ties.

use league_core::session::MoveRequest;
use league_protocol::parity::Parity;

use super::{Decision, Strategy};
use crate::memory::{Duel, Memory};

/// The points of a win; scales rewards to 1.
const BEST: f64 = 3.0;

/// The weight of the margin. UCB1's proof uses 2.0; here the arms differ by at most half a point, and a league is short.
const DOUBT: f64 = 0.5;

#[derive(Debug)]
pub(super) struct Bandit;

#[derive(Clone, Copy, Default)]
struct Arm {
    pulls: u32,
    reward: f64,
}

impl Arm {
    fn pulled(&mut self, points: u32) {
        self.pulls += 1;
        self.reward += f64::from(points) / BEST;
    }

    /// The upper confidence bound after `all` pulls of both arms; infinite for an untried arm.
    fn hope(self, all: u32) -> f64 {
        if self.pulls == 0 {
            return f64::INFINITY;
        }
        let pulls = f64::from(self.pulls);
        self.reward / pulls + (DOUBT * f64::from(all).ln() / pulls).sqrt()
    }
}

/// A match that the opponent forfeited is no duel: the choice did not earn its points.
fn better_arm(duels: &[Duel]) -> Option<Parity> {
    let (mut even, mut odd) = (Arm::default(), Arm::default());
    for duel in duels {
        match duel.choices.own {
            Parity::Even => even.pulled(duel.points),
            Parity::Odd => odd.pulled(duel.points),
        }
    }
    let all = even.pulls + odd.pulls;
    match even.hope(all).total_cmp(&odd.hope(all)) {
        std::cmp::Ordering::Greater => Some(Parity::Even),
        std::cmp::Ordering::Less => Some(Parity::Odd),
        std::cmp::Ordering::Equal => None,
    }
}

impl Strategy for Bandit {
    fn name(&self) -> &'static str {
        "bandit"
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision {
        let better = better_arm(&memory.informative_duels(request));
        better.unwrap_or_else(|| memory.toss(request)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Choices;
    use crate::testing::{played, question, remembering};

    #[test]
    fn it_converges_to_the_better_arm() {
        // Against an opponent that always says even, even pays 1 each time, odd alternates between 3 and 0.
        let mut duels = Vec::new();
        let mut odd_pulls = 0;
        for _ in 0..2_000 {
            let own = better_arm(&duels).unwrap_or(Parity::Even);
            let mut next = Duel { choices: Choices { own, theirs: Parity::Even }, points: 1 };
            if own == Parity::Odd {
                odd_pulls += 1;
                next.points = if odd_pulls % 2 == 0 { 3 } else { 0 };
            }
            duels.push(next);
        }
        let late = duels[1_500..].iter().filter(|duel| duel.choices.own == Parity::Odd).count();
        assert!(late > 425, "the better arm was pulled {late} times of the last 500");
    }

    #[test]
    fn a_forfeit_of_the_opponent_says_nothing_about_an_arm() {
        let mut gift = played(1, "P02", Parity::Even, Parity::Odd);
        (gift.opponent_choice, gift.points) = (None, 3);
        assert_eq!(remembering(&[gift]).informative_duels(&question(2)), []);
    }
}
