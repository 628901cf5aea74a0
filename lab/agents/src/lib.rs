//! Agents as other people wrote them: players, referees and managers for the tests of ours.
//!
//! Nothing here knows our own code. Messages are plain JSON, so that a mistake in our decoders cannot hide behind the same
//! mistake on the other side. Every agent is a real HTTP server on a free loopback port, keeps a [`diary`] of all that it
//! heard, and is gone when it is dropped.
//!
//! - [`player`], with the [`player::habit`]s of players that were seen; [`referee`]; [`manager`].
//! - [`crowd`]: one player for each form that is in use.
//! - [`villain`]: players that do harm, byte by byte.
//! - [`frame`], [`names`]: how each of them wraps a message, and what it calls it.
//! - [`post`]: the HTTP client that they use, also good for a plain request in a test.

mod client;
pub mod frame;
pub mod hostile;
mod http_server;
pub mod manager;
mod mcp;
mod message;
pub mod names;
pub mod player;
pub mod player_kinds;
pub mod post;
pub mod referee;
pub mod request_log;
