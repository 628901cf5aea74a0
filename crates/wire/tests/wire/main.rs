//! Tests of the server and the client over sockets on port 0, with raw bytes on one end.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests and their helpers may panic")]

mod batches;
mod bounds;
mod breaker;
mod client_answers;
mod client_connections;
mod client_limits;
mod dialects;
mod frames;
mod hostile_clients;
mod hostile_peers;
mod managers;
mod mcp;
mod pages;
mod raw;
mod registration;
#[path = "../remote_listener/mod.rs"]
mod remote_listener;
mod routes;
mod runtime_lag;
mod shutdown;
mod stateless_mcp;
mod stub_peer;
mod support;
#[path = "../test_certificates/mod.rs"]
mod test_certificates;
mod tls;
