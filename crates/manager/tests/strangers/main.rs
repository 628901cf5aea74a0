//! Our leagues with foreign agents: the manager understands all of them, and few extra calls are needed.

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
