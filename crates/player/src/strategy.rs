//! Strategies choose the moves of a player.
//!
//! A [`Strategy`] is a pure function of the [`MoveRequest`] and the [`Memory`]: no I/O, no clock, no state. It returns I/O, such
//! as asking a model, as a [`Decision`] for the [`strategy_runner`](crate::strategy_runner). A new strategy is one file and one
//! line in the [`registry`].
//!
//! In Even/Odd the number is even or odd with equal chance. With different choices each side wins 3 points half of the time, 1.5
//! on average; with equal choices each gets 1 point. Against an opponent that says even with probability p, odd earns 1 + p/2 and
//! even earns 1 + (1 − p)/2. So a good strategy *predicts the opponent and says the opposite*. Against a random opponent every
//! choice earns 1.25.

mod alternate;
mod always;
mod bandit;
mod connect_four;
mod equilibrium;
mod frequency;
mod markov;
#[cfg(feature = "test-strategies")]
pub mod misbehaving;
mod model;
mod mostly_rock;
mod pattern;
mod random;
pub mod registry;
mod tally;
mod throw_pattern;
mod tic_tac_toe;
mod tit_for_tat;

#[cfg(test)]
mod tests;

use std::fmt;

use league_core::session::MoveRequest;
use league_protocol::id::GameType;
use league_protocol::parity::Parity;
use smol_str::SmolStr;

use crate::llm::Prompt;
use crate::memory::Memory;

pub trait Strategy: fmt::Debug + Send + Sync {
    fn name(&self) -> &'static str;

    fn games(&self) -> Vec<GameType> {
        vec![GameType::even_odd()]
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision;
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    Move(SmolStr),
    Ask(Prompt),
    #[cfg(feature = "test-strategies")]
    Misbehave(misbehaving::Misbehaviour),
}

impl From<Parity> for Decision {
    fn from(parity: Parity) -> Self {
        Self::Move(SmolStr::new_static(parity.as_str()))
    }
}
