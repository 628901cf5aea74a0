//! Leagues of ours with agents that others wrote: they are all understood, and finding out how costs little.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod league;
mod players;
mod referees;
