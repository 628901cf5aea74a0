//! Good agents pass every check. In bad ones the checker finds each planted fault and nothing else.

#![expect(clippy::unwrap_used, reason = "a test may fail, and so may what helps it")]

mod admission;
mod crowd;
mod good;
mod managers;
mod players;
mod referees;
mod reports;
mod strangers;
mod support;
