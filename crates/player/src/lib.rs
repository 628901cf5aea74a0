//! The player agent and its strategies.
//!
//! - [`strategy`]: pure functions from request and memory to a decision
//! - [`memory`], [`chance`]: what strategies know, and their random choices
//! - [`llm`]: the client of language models
//! - [`strategy_runner`]: runs a strategy within its deadline
//! - [`player`]: the agent

pub mod chance;
pub mod llm;
pub mod memory;
pub mod player;
pub mod strategy;
pub mod strategy_runner;

#[cfg(test)]
mod testing;
