//! HTTP server and client of the agents, MCP, deadlines, TLS and rate limits.
//!
//! An agent implements [`agent::Agent`] and [`server::serve`] serves it on a listener. [`peer_client`] calls an agent in the dialect that
//! it understands, through [`client`]. JSON and its dialects belong to the protocol crate; this crate limits time, size and number.
//!
//! | client | server |
//! |---|---|
//! | [`peer_client`] finds the dialect, [`registration`] registers with a manager | [`agent`] is what is served |
//! | [`client`] posts, [`exchange`] is the outcome | [`server`] accepts, [`settings`] limit it |
//! | [`endpoint`] is the address, [`tls`] the trust | [`pages`] are served beside the agent |
//! | [`breaker`] stops calls to an endpoint that fails | [`rate`] and [`failed_secrets`] limit clients by [`client_network`], behind a proxy as [`trusted_proxies`] say |
//! | [`manager_urls`] finds the leader among several managers | [`relay`] sends calls from a standby to the leader |
//! | | [`hosting`] serves the managers of many leagues on one listener |
//! | [`runtime_lag`] extends a deadline that this process itself missed | [`refusal_log`] logs refused requests |
//!
//! [`net`] and [`environment`] are what a simulation replaces. [`trace`] connects spans across processes, [`call_tally`] counts calls,
//! [`lan`] finds the addresses of this machine, [`token_recheck`] finds out whether an agent's token is still valid.

pub mod agent;
pub mod breaker;
pub mod call_tally;
pub mod client;
pub mod client_network;
pub mod endpoint;
pub mod environment;
pub mod exchange;
pub mod failed_secrets;
pub mod hosting;
pub mod lan;
pub mod manager_urls;
pub mod net;
pub mod pages;
pub mod peer_client;
pub mod rate;
pub mod refusal_log;
pub mod registration;
pub mod relay;
pub mod runtime_lag;
pub mod server;
pub mod settings;
pub mod tls;
pub mod token_recheck;
pub mod trace;
pub mod trusted_proxies;

mod connection;
mod connections;
mod dial;
mod dispatch;
pub mod guard;
mod io_timeout;
mod mcp;
mod pool;
mod probe;
mod route;
mod session;
mod sse;
mod tracked_stream;
