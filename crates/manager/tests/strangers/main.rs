//! Leagues of ours with agents that others wrote: they are all understood, and finding out how costs little.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod batches;
mod crowd;
#[path = "../../../wire/tests/faraway/mod.rs"]
mod faraway;
mod hostile;
mod league;
mod operator;
mod players;
mod referees;
mod rules;
