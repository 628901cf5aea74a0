//! The site over real sockets: every page and every answer, streams, operator, past.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod api;
mod crowd;
mod games;
#[path = "../../../store/tests/support/mod.rs"]
mod leagues;
mod markup;
mod operator;
mod pages;
mod past;
mod player;
mod projector;
mod reasons;
mod schema;
mod secrets;
mod states;
mod streams;
mod support;
mod withdrawn;
