//! Agents of other implementations, and the HTTP server of every stub, for the tests of our own agents.
//!
//! Agents here use none of our code. Messages are plain JSON, so that an error in our decoders cannot hide behind the
//! same error on the other side. Each agent is a real HTTP server on a free loopback port, logs all requests
//! ([`request_log`]), and stops when it is dropped.
//!
//! - [`player`], with every [`player::dialect`] that was seen in public; [`referee`]; [`manager`]
//! - [`player_kinds`]: one player for each dialect that is in use
//! - [`hostile`]: players that attack, byte by byte
//! - [`frame`], [`names`]: the frames, and the names of messages
//! - [`http_server`], [`post`]: HTTP server and client
//! - [`proxy`]: a server in front of another one, which changes requests
//! - [`suite_proxy`]: the tools that MCP's conformance suite calls, in front of our servers

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
pub mod proxy;
pub mod referee;
pub mod request_log;
pub mod suite_proxy;
