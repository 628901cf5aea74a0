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

pub mod admission;
pub mod agent;
pub mod breaker;
pub mod client;
pub mod doubt;
pub mod endpoint;
pub mod exchange;
pub mod lan;
pub mod net;
pub mod pages;
pub mod pulse;
pub mod rate;
pub mod refusals;
pub mod retry;
pub mod server;
pub mod settings;
pub mod speaker;
pub mod strikes;
pub mod tally;
pub mod tls;
pub mod trace;
pub mod whence;
pub mod world;

mod attend;
mod crowd;
mod dial;
mod dispatch;
mod guard;
mod lasting;
mod line;
mod mcp;
mod patience;
mod pool;
mod probe;
mod route;
mod session;
mod sse;
mod together;
