//! `bandit`: two arms, even and odd; pull the one that paid better, and now and then the other (UCB1).
//!
//! It looks at its own points only and never at what the opponent chose, so it learns slower than `frequency` and needs no
//! idea of the game: with other payoffs it would learn those. Each arm is worth its mean and a margin that shrinks the more
//! often it was tried; without a draw of lots the choice follows from the history alone, and the coin only breaks ties.

use league_core::session::{MoveRequest, PlayedMatch};
use league_protocol::parity::Parity;

use super::{Decision, Strategy};
use crate::memory::{Choices, Memory};

/// What a win pays: rewards are measured in this.
const BEST: f64 = 3.0;

/// How much doubt counts. UCB1's proof wants 2.0; the arms differ by half a point at most, and a league is short.
const DOUBT: f64 = 0.5;

#[derive(Debug)]
pub(super) struct Bandit;

/// One choice, and what it has paid.
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

    /// What may be hoped for from this arm after `all` pulls of both: without end, when it was never tried.
    fn hope(self, all: u32) -> f64 {
        if self.pulls == 0 {
            return f64::INFINITY;
        }
        let pulls = f64::from(self.pulls);
        self.reward / pulls + (DOUBT * f64::from(all).ln() / pulls).sqrt()
    }
}

fn better_arm<'a>(matches: impl IntoIterator<Item = &'a PlayedMatch>) -> Option<Parity> {
    let (mut even, mut odd) = (Arm::default(), Arm::default());
    for played in matches {
        // Points for an opponent's forfeit were not earned by the choice.
        let Some(choices) = Choices::of(played) else { continue };
        match choices.own {
            Parity::Even => even.pulled(played.points),
            Parity::Odd => odd.pulled(played.points),
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
        let better = better_arm(memory.telling(request));
        better.unwrap_or_else(|| memory.toss(request)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bet, memory, played, question};

    #[test]
    fn an_arm_that_was_never_tried_is_tried_first() {
        assert_eq!(bet(&Bandit, &question(9), &memory(&[("P02", "ee")])), Parity::Odd);
        let nothing = memory(&[]);
        assert_eq!(bet(&Bandit, &question(9), &nothing), nothing.toss(&question(9)));
    }

    #[test]
    fn it_converges_to_the_better_arm() {
        // Against somebody who always says even: even pays 1 each time, odd pays 3 and 0 in turns.
        let mut matches = Vec::new();
        let mut odd_pulls = 0;
        for number in 0..2_000 {
            let own = better_arm(&matches).unwrap_or(Parity::Even);
            let mut next = played(number, "P02", own, Parity::Even);
            if own == Parity::Odd {
                odd_pulls += 1;
                next.points = if odd_pulls % 2 == 0 { 3 } else { 0 };
            }
            matches.push(next);
        }
        let late = matches[1_500..].iter().filter(|played| played.my_choice.as_deref() == Some("odd")).count();
        assert!(late > 425, "the better arm was pulled {late} times of the last 500");
    }

    #[test]
    fn a_forfeit_of_the_opponent_says_nothing_about_an_arm() {
        let mut gift = played(1, "P02", Parity::Even, Parity::Odd);
        (gift.opponent_choice, gift.points) = (None, 3);
        assert_eq!(better_arm(&[gift]), None);
    }
}
