//! Our leagues with foreign agents: the manager understands all of them, and few extra calls are needed.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod batches;
mod crowd;
mod hostile;
mod league;
mod operator;
mod players;
mod pulling;
mod referees;
#[path = "../../../wire/tests/remote_listener/mod.rs"]
mod remote_listener;
mod reports;
mod rules;
