//! Tests of the server and the client over sockets on port 0, with raw bytes on one end.

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
