//! How messages travel: the `/mcp` endpoint and the client.

pub mod endpoint;
pub mod net;
pub mod tls;
