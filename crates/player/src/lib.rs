//! Who plays: strategies, and the agent around them.
//!
//! - [`strategy`]: how to choose. Pure: what is asked and what is remembered goes in, a decision comes out.
//! - [`memory`], [`chance`]: what is remembered, and where luck comes from.
//! - [`llm`]: a language model that is asked for a word.
//! - [`thinker`]: gets an answer out of a strategy in time, whatever the strategy does.
//! - [`player`]: the agent itself.

pub mod chance;
pub mod llm;
pub mod memory;
pub mod player;
pub mod strategy;
pub mod strategy_runner;

#[cfg(test)]
mod testing;
