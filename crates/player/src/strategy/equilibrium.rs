//! `equilibrium`: plays a small game so that no opponent can win more than the game is worth, by counterfactual regret.
//!
//! The first request computes the whole game, once for each process: a tenth of a second for Leduc poker.

use std::sync::LazyLock;

use league_core::rules::registry::new_game;
use league_core::rules::tree::{GameTree, Policy};
use league_core::session::MoveRequest;
use league_protocol::id::GameType;
use league_protocol::side::Side;
use smol_str::SmolStr;

use super::{Decision, Strategy};
use crate::memory::Memory;

/// The games, and the rounds of the solver: their exploitability is below 0.001 chips.
const GAMES: [(&str, u32); 3] = [("kuhn_poker", 500), ("leduc_poker", 500), ("colonel_blotto", 200)];
const MOST_NODES: usize = 100_000;
/// Weights are compared in parts of this.
const PARTS: usize = 1_000_000;

#[derive(Debug)]
pub(super) struct Equilibrium;

#[derive(Debug)]
struct Solution {
    tree: GameTree,
    policy: Policy,
}

impl Solution {
    fn of(name: &str, rounds: u32) -> Option<Self> {
        let game = new_game(&name.parse().ok()?)?;
        let tree = GameTree::of(&*game, MOST_NODES).ok()?;
        let policy = tree.solve(rounds);
        Some(Self { tree, policy })
    }

    /// The legal moves with their weights. Where both sides may have the same view, their situations are the same.
    fn weights(&self, view: &str) -> Option<impl Iterator<Item = (&SmolStr, f64)>> {
        let set = Side::BOTH.into_iter().find_map(|side| self.tree.set_of(side, view))?;
        Some(self.tree.sets()[set].moves.iter().zip(self.policy[set].iter().copied()))
    }
}

static SOLUTIONS: [LazyLock<Option<Solution>>; 3] = [
    LazyLock::new(|| Solution::of(GAMES[0].0, GAMES[0].1)),
    LazyLock::new(|| Solution::of(GAMES[1].0, GAMES[1].1)),
    LazyLock::new(|| Solution::of(GAMES[2].0, GAMES[2].1)),
];

impl Strategy for Equilibrium {
    fn name(&self) -> &'static str {
        "equilibrium"
    }

    fn games(&self) -> Vec<GameType> {
        GAMES.iter().filter_map(|(name, _)| name.parse().ok()).collect()
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision {
        let known = GAMES.iter().zip(&SOLUTIONS).find(|((name, _), _)| *name == request.game.as_str());
        let weights = known.and_then(|(_, solution)| LazyLock::force(solution).as_ref()?.weights(&request.view));
        let mut left = memory.pick(request, PARTS) as f64 / PARTS as f64;
        let mut chosen = SmolStr::default();
        for (text, weight) in weights.into_iter().flatten().filter(|(_, weight)| *weight > 0.0) {
            chosen = text.clone();
            left -= weight;
            if left < 0.0 {
                break;
            }
        }
        // An unknown view has no weights; the empty move makes the runner choose at random.
        Decision::Move(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{memory, question};

    #[test]
    fn its_exploitability_is_small_in_every_game() {
        for ((name, _), solution) in GAMES.iter().zip(&SOLUTIONS) {
            let Solution { tree, policy } = solution.as_ref().unwrap();
            let (value, exploitability) = (tree.value(policy), tree.exploitability(policy));
            println!("{name}: value {value:.6}, exploitability {exploitability:.6}");
            assert!(exploitability < 2e-3, "{name}: {exploitability}");
        }
    }

    #[test]
    fn it_never_folds_a_king_and_mixes_where_theory_says_so() {
        let memory = memory(&[]);
        let chosen = |view: &str, number: u32| {
            let request = MoveRequest { game: "kuhn_poker".parse().unwrap(), view: view.into(), ..question(number) };
            let Decision::Move(text) = Equilibrium.choose(&request, &memory) else { panic!("it does not move") };
            text
        };
        assert!((1..200).all(|number| chosen("K bet", number) == "call" && chosen("J bet", number) == "fold"));
        // The second player bluffs with a jack once in three times after a check.
        let bluffs = (1..=1_000).filter(|number| chosen("J check", *number) == "bet").count();
        assert!((250..=420).contains(&bluffs), "{bluffs} bluffs of 1,000");
        assert_eq!(chosen("no such view", 1), "");
    }
}
