//! How a player chooses its moves.
//!
//! A [`Strategy`] is a pure function of the [`MoveRequest`] and the [`Memory`]; it does no I/O, has no clock and keeps
//! nothing. What it cannot do itself, such as asking a model, it returns as a [`Decision`] for the
//! [`strategy_runner`](crate::strategy_runner) to carry out. A new strategy is one file here and one line in the [`registry`].
//!
//! In Even/Odd the number is even or odd with equal chance. With different choices each side wins 3 points half of the time,
//! 1.5 on average; with equal choices each gets 1 point. A player whose opponent says even with probability p earns 1 + p/2
//! by odd and 1 + (1 − p)/2 by even. So all skill is in *predicting the opponent and saying the opposite*, and against a
//! random opponent every choice earns 1.25.

mod alternate;
mod always;
mod bandit;
mod frequency;
mod markov;
#[cfg(feature = "test-strategies")]
pub mod misbehaving;
mod model;
mod pattern;
mod random;
pub mod registry;
mod tally;
mod tic_tac_toe;

#[cfg(test)]
mod tournament;

use std::fmt;

use league_core::session::MoveRequest;
use league_protocol::id::GameType;
use league_protocol::parity::Parity;
use smol_str::SmolStr;

use crate::llm::Prompt;
use crate::memory::Memory;

pub trait Strategy: fmt::Debug + Send + Sync {
    /// Its name in the registry, without a parameter.
    fn name(&self) -> &'static str;

    /// The games that it plays.
    fn games(&self) -> Vec<GameType> {
        vec![GameType::even_odd()]
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision;
}

/// What the player does next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    Move(SmolStr),
    /// Ask a language model, and play the move that it names.
    Ask(Prompt),
    #[cfg(feature = "test-strategies")]
    Misbehave(misbehaving::Misbehaviour),
}

impl From<Parity> for Decision {
    fn from(parity: Parity) -> Self {
        Self::Move(SmolStr::new_static(parity.as_str()))
    }
}
