//! State machines of the league without I/O: games, matches, seasons and player sessions.

pub mod game_match;
pub mod in_memory;
pub mod record;
pub mod replay;
pub mod rules;
pub mod season;
pub mod session;
