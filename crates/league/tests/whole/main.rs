//! Whole leagues through the real binary, over real sockets.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod kills;
mod leagues;
mod misbehaviour;
mod processes;
mod refusals;
mod stepped;
mod support;
