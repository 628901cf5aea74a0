//! The strangers themselves, by plain posts: each takes its own form and no other, and has its habits.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what helps it")]

mod habits;
mod leagues;
mod mcp;
mod players;
mod support;
