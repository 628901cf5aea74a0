//! league.v2, the protocol between manager, referees and players, without I/O, clock and randomness.
//! Start at [`table`], which is the protocol; [`message`] has its types, [`frame`] their forms on the wire.

pub mod answer;
pub mod dialect;
pub mod dialect_error;
pub mod dialect_fallback;
pub mod dialect_writer;
pub mod display;
pub mod draw;
pub mod envelope;
pub mod error;
pub mod frame;
pub mod id;
pub mod lenient;
pub mod message;
pub mod parity;
pub mod problem;
pub mod quirk;
pub mod reference;
pub mod reply;
pub mod request;
pub mod schema;
pub mod seal;
pub mod sender;
pub mod side;
pub mod signature;
pub mod table;
mod text;
pub mod time;
pub mod token;
