//! The whole tree of a small game of two players: equilibrium by CFR+, values and exploitability.
//!
//! A side cannot distinguish positions with the same view, so they are one information set. Views therefore have to tell a side
//! all that it saw and did before. Of two moves at once, side A's stands first in the tree; side B does not see it.

use std::collections::HashMap;

use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use super::game::{DrawnNumber, Game, GameStage};

/// The weight of each legal move in each information set; they add up to 1.
pub type Policy = Vec<Vec<f64>>;

#[derive(Debug)]
pub struct GameTree {
    nodes: Vec<Node>,
    sets: Vec<InformationSet>,
    index: Pair<HashMap<SmolStr, usize>>,
}

#[derive(Debug)]
pub struct InformationSet {
    pub side: Side,
    pub view: SmolStr,
    pub moves: Vec<SmolStr>,
}

#[derive(Debug)]
enum Node {
    /// What side A wins more than side B, halved: what it wins in a game of chips.
    Over(f64),
    /// All outcomes are equally likely.
    Chance(Vec<usize>),
    Choice {
        set: usize,
        next: Vec<usize>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeTooLarge;

impl GameTree {
    pub fn of(game: &dyn Game, most_nodes: usize) -> Result<Self, TreeTooLarge> {
        let mut tree = Self { nodes: Vec::new(), sets: Vec::new(), index: Pair::default() };
        tree.add(game, most_nodes)?;
        Ok(tree)
    }

    /// Children come before their parents, so the root is the last node.
    fn add(&mut self, game: &dyn Game, most_nodes: usize) -> Result<usize, TreeTooLarge> {
        let node = match game.stage() {
            GameStage::Over(verdict) => {
                let score = verdict.score();
                Node::Over(f64::from(score.a - score.b) / 2.0)
            }
            GameStage::Chance(request) => {
                let outcomes = request.outcomes();
                let after = outcomes.iter().map(|outcome| {
                    let mut next = game.boxed();
                    next.chance(outcome);
                    self.add(&*next, most_nodes)
                });
                Node::Chance(after.collect::<Result<_, _>>()?)
            }
            GameStage::Draw => {
                let after = (1..=10).filter_map(DrawnNumber::new).map(|number| {
                    let mut next = game.boxed();
                    next.draw(number);
                    self.add(&*next, most_nodes)
                });
                Node::Chance(after.collect::<Result<_, _>>()?)
            }
            GameStage::Moves(due) => {
                let side = if due.a { Side::A } else { Side::B };
                let (view, moves) = (game.view(side), game.legal_moves(side));
                let mut next = Vec::with_capacity(moves.len());
                for text in &moves {
                    let mut after = game.boxed();
                    if after.play(side, text).is_ok() {
                        next.push(self.add(&*after, most_nodes)?);
                    }
                }
                let set = *self.index[side].entry(view.clone()).or_insert_with(|| {
                    self.sets.push(InformationSet { side, view, moves });
                    self.sets.len() - 1
                });
                Node::Choice { set, next }
            }
        };
        if self.nodes.len() >= most_nodes {
            return Err(TreeTooLarge);
        }
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    pub fn sets(&self) -> &[InformationSet] {
        &self.sets
    }

    pub fn set_of(&self, side: Side, view: &str) -> Option<usize> {
        self.index[side].get(view).copied()
    }

    pub fn uniform(&self) -> Policy {
        self.sets.iter().map(|set| vec![1.0 / set.moves.len() as f64; set.moves.len()]).collect()
    }

    /// What side A wins on average.
    pub fn value(&self, policy: &Policy) -> f64 {
        self.values_for(Side::A, policy).last().copied().unwrap_or_default()
    }

    /// What the best answers to a policy win more than it, on average of both sides. An equilibrium has 0.
    pub fn exploitability(&self, policy: &Policy) -> f64 {
        let (a, b) = (self.best_answer(Side::A, policy), self.best_answer(Side::B, policy));
        (a + b) / 2.0
    }

    /// What `side` wins on average by its best answer to the opponent's policy.
    pub fn best_answer(&self, side: Side, policy: &Policy) -> f64 {
        let mut answer = policy.clone();
        let mut reach = vec![0.0; self.nodes.len()];
        // A set is decided after all sets below it. Each pass decides at least the sets of one more level.
        for _ in 0..self.depth() {
            self.reach(policy, |by| by != Some(side), &mut reach);
            let values = self.values_for(side, &answer);
            let mut worth: Vec<Vec<f64>> = answer.iter().map(|weights| vec![0.0; weights.len()]).collect();
            for (node, reached) in self.nodes.iter().zip(&reach) {
                if let Node::Choice { set, next } = node
                    && self.sets[*set].side == side
                {
                    next.iter().zip(&mut worth[*set]).for_each(|(child, worth)| *worth += reached * values[*child]);
                }
            }
            for ((set, worth), weights) in self.sets.iter().zip(worth).zip(&mut answer) {
                let best = worth.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1)).map(|(best, _)| best);
                if set.side == side {
                    weights.iter_mut().enumerate().for_each(|(at, weight)| *weight = f64::from(Some(at) == best));
                }
            }
        }
        self.values_for(side, &answer).last().copied().unwrap_or_default()
    }

    fn values_for(&self, side: Side, policy: &Policy) -> Vec<f64> {
        let sign = if side == Side::A { 1.0 } else { -1.0 };
        let mut values: Vec<f64> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            values.push(match node {
                Node::Over(value) => sign * value,
                Node::Chance(next) => next.iter().map(|child| values[*child]).sum::<f64>() / next.len() as f64,
                Node::Choice { set, next } => {
                    next.iter().zip(&policy[*set]).map(|(child, weight)| weight * values[*child]).sum()
                }
            });
        }
        values
    }

    /// The chance of each node by the choices that count: those of a side, or of chance (`None`).
    fn reach(&self, policy: &Policy, counts: impl Fn(Option<Side>) -> bool, reach: &mut [f64]) {
        if let Some(root) = reach.last_mut() {
            *root = 1.0;
        }
        for (at, node) in self.nodes.iter().enumerate().rev() {
            let here = reach[at];
            match node {
                Node::Over(_) => {}
                Node::Chance(next) => {
                    let share = if counts(None) { here / next.len() as f64 } else { here };
                    next.iter().for_each(|child| reach[*child] = share);
                }
                Node::Choice { set, next } => {
                    let is_counted = counts(Some(self.sets[*set].side));
                    for (child, weight) in next.iter().zip(&policy[*set]) {
                        reach[*child] = if is_counted { here * weight } else { here };
                    }
                }
            }
        }
    }

    fn depth(&self) -> usize {
        let mut depths: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let next = match node {
                Node::Over(_) => &[][..],
                Node::Chance(next) | Node::Choice { next, .. } => next,
            };
            depths.push(1 + next.iter().map(|child| depths[*child]).max().unwrap_or_default());
        }
        depths.last().copied().unwrap_or_default()
    }

    /// An approximate equilibrium by CFR+ (Tammelin 2014): regrets never fall below 0, and later rounds weigh more.
    pub fn solve(&self, rounds: u32) -> Policy {
        let mut regrets: Policy = self.sets.iter().map(|set| vec![0.0; set.moves.len()]).collect();
        let mut sums = regrets.clone();
        let mut reaches = Pair::new(vec![0.0; self.nodes.len()], vec![0.0; self.nodes.len()]);
        for round in 1..=rounds {
            for side in Side::BOTH {
                let policy = matched(&regrets);
                // By the opponent and the dice for regrets, by the own moves for the average.
                self.reach(&policy, |by| by != Some(side), &mut reaches.a);
                self.reach(&policy, |by| by == Some(side), &mut reaches.b);
                let values = self.values_for(side, &policy);
                let mut own_reach = vec![0.0_f64; self.sets.len()];
                let mut gains: Policy = regrets.iter().map(|regret| vec![0.0; regret.len()]).collect();
                for (at, node) in self.nodes.iter().enumerate() {
                    if let Node::Choice { set, next } = node
                        && self.sets[*set].side == side
                    {
                        own_reach[*set] = reaches.b[at];
                        for (child, gain) in next.iter().zip(&mut gains[*set]) {
                            *gain += reaches.a[at] * (values[*child] - values[at]);
                        }
                    }
                }
                for (set, gains) in gains.into_iter().enumerate().filter(|(set, _)| self.sets[*set].side == side) {
                    for (regret, gain) in regrets[set].iter_mut().zip(gains) {
                        *regret = (*regret + gain).max(0.0);
                    }
                    for (sum, weight) in sums[set].iter_mut().zip(&policy[set]) {
                        *sum += f64::from(round) * own_reach[set] * weight;
                    }
                }
            }
        }
        matched(&sums)
    }
}

/// Weights in proportion; equal ones where all are 0.
fn matched(weights: &Policy) -> Policy {
    let normal = |weights: &Vec<f64>| {
        let sum: f64 = weights.iter().sum();
        let even = 1.0 / weights.len().max(1) as f64;
        weights.iter().map(|weight| if sum > 0.0 { weight / sum } else { even }).collect()
    };
    weights.iter().map(normal).collect()
}
