//! How messages travel: the `/mcp` endpoint and the client.

pub mod breaker;
pub mod client;
pub mod endpoint;
pub mod exchange;
pub mod net;
pub mod retry;
pub mod tls;

mod dial;
mod line;
