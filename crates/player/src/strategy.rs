//! How to choose.
//!
//! A [`Strategy`] is a pure function of the question and the [`Memory`]; it does no I/O, has no clock and keeps nothing. What
//! it cannot do itself, such as asking a model, it returns as a [`Decision`] for the [`thinker`](crate::strategy_runner) to carry out.
//! All bet on Even/Odd. A new strategy is one file here and one line in the [`registry`].
//!
//! What can be gained at all: the number is even or odd with equal chance, so with different choices each side wins 3 points
//! half of the time, 1.5 on average; with equal choices it is always a draw, 1 point. Whoever expects the opponent to say
//! even with probability p earns 1 + p/2 by odd and 1 + (1 − p)/2 by even. So all skill is in *predicting the opponent and
//! saying the opposite*, and against a coin every choice earns 1.25.

mod alternate;
mod always;
mod bandit;
mod behaviour;
mod frequency;
mod markov;
mod model;
mod pattern;
mod random;
pub mod registry;
mod tally;

#[cfg(test)]
mod tournament;

use std::fmt;

use league_core::session::StrategyQuestion;
use league_protocol::parity::Parity;

pub use behaviour::{Behaviour, Share};

use crate::llm::Prompt;
use crate::memory::Memory;

pub trait Strategy: fmt::Debug + Send + Sync {
    /// Its name in the registry, without a parameter.
    fn name(&self) -> &'static str;

    /// What to do about `question`.
    fn choose(&self, question: &StrategyQuestion, memory: &Memory) -> Decision;
}

/// What a strategy wants to be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    Bet(Parity),
    /// Ask a language model, and bet on its word.
    Ask(Prompt),
    /// Do not play as one should: for tests of leagues.
    Misbehave(Behaviour),
}
