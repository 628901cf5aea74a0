//! The wire through its real doors: sockets on port 0, raw bytes on one side or the other.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may panic, and so may what helps it"
)]

mod admissions;
mod batches;
mod bounds;
mod circuits;
mod client_answers;
mod client_limits;
mod client_lines;
mod crowd;
mod door;
#[path = "../faraway/mod.rs"]
mod faraway;
mod frames;
mod hostile;
mod mcp;
mod modern;
mod pages;
#[path = "../papers/mod.rs"]
mod papers;
mod raw;
mod shutdown;
mod speech;
mod starved;
mod strangers;
mod support;
mod tls;
