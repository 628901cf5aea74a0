//! league.v2: what is said between manager, referees and players.
//!
//! No I/O, no clock, no randomness: bytes in, typed messages out, and back. Start at [`table`], which is the protocol;
//! [`message`] has its types, [`frame`] the forms in which they travel.

pub mod answer;
pub mod draw;
pub mod error;
pub mod frame;
pub mod head;
pub mod id;
pub mod ladder;
pub mod loose;
pub mod manner;
pub mod message;
pub mod parity;
pub mod problem;
pub mod quirk;
pub mod rebuff;
pub mod reference;
pub mod reply;
pub mod request;
pub mod schema;
pub mod seal;
pub mod sender;
pub mod side;
pub mod speech;
pub mod table;
mod text;
pub mod time;
pub mod token;
