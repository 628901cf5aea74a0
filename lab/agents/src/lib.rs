//! Agents as other people wrote them, and the HTTP server of every stub, for the tests of our own agents.
//!
//! Agents here know none of our code. Messages are plain JSON, so that an error in our decoders cannot hide behind the same
//! error on the other side. Each is a real HTTP server on a free loopback port, logs all requests ([`request_log`]), and is gone
//! when it is dropped.
//!
//! - [`player`], with every [`player::dialect`] that was seen in public; [`referee`]; [`manager`]
//! - [`player_kinds`]: one player for each form of the protocol that is in use
//! - [`hostile`]: players that attack, byte by byte
//! - [`frame`], [`names`]: how agents wrap a message, and what they call it
//! - [`http_server`]: the server of all of these, and of every stub in a test
//! - [`post`]: an HTTP client for one request
//! - [`suite_proxy`]: the tools that MCP's conformance suite calls, in front of a server of ours

mod agent_server;
mod client;
pub mod frame;
pub mod hostile;
pub mod http_server;
pub mod manager;
mod mcp;
mod message;
pub mod names;
pub mod player;
pub mod player_kinds;
pub mod post;
pub mod referee;
pub mod request_log;
pub mod suite_proxy;
