//! league.v2: what is said between manager, referees and players.
//!
//! No I/O, no clock, no randomness: bytes in, typed messages out, and back.

pub mod draw;
pub mod id;
pub mod parity;
pub mod seal;
pub mod side;
pub mod time;
pub mod token;
