//! How messages travel: the `/mcp` endpoint and the client.
//!
//! An agent of the league implements [`agent::Agent`] and is put behind a listener with [`server::serve`]; whoever calls
//! one does it through [`client::Client`]. Frames, spellings and JSON are the protocol's business; what is decided here
//! is how long anybody waits, how much is read, and who may ask at all.
//!
//! | outwards | inwards |
//! |---|---|
//! | [`speaker`] speaks as its peer understands it | |
//! | [`client`] posts, [`exchange`] is what came of it | [`server`] accepts, [`settings`] bound it |
//! | [`endpoint`] says where to, [`tls`] how safely | [`agent`] is what it serves |
//! | [`retry`] and [`breaker`] say when to stop trying | [`pages`] are what it shows beside |
//!
//! [`rate`] says how often anything may happen, [`strikes`] how often a secret may be wrong, both by [`whence`] it comes.
//! [`pulse`] tells whether we ourselves are late, and grants a peer the time that it would be charged for. [`trace`] says what belongs
//! together across processes, [`tally`] counts calls for whoever wants figures, and [`refusals`] are what an agent logs of refused requests.
//!
//! [`admission`] is how an agent gets into its league, [`doubt`] how it stays there. [`net`] has the two traits behind which the network itself can be
//! replaced, [`world`] the time of day and chance. [`lan`] tells by which addresses other machines reach this one.

pub mod agent;
pub mod breaker;
pub mod call_tally;
pub mod client;
pub mod client_network;
pub mod endpoint;
pub mod environment;
pub mod exchange;
pub mod failed_secrets;
pub mod lan;
pub mod net;
pub mod pages;
pub mod peer_client;
pub mod rate;
pub mod refusal_log;
pub mod registration;
pub mod retry;
pub mod runtime_lag;
pub mod server;
pub mod settings;
pub mod tls;
pub mod token_recheck;
pub mod trace;

mod connection;
mod connections;
mod dial;
mod dispatch;
mod guard;
mod io_timeout;
mod mcp;
mod pool;
mod probe;
mod route;
mod session;
mod sse;
mod streaming_body;
mod together;
mod tracked_stream;
