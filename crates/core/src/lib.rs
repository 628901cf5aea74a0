//! What the league's messages mean, as pure state machines.

pub mod game_match;
pub mod in_memory;
pub mod record;
pub mod replay;
pub mod rules;
pub mod season;
pub mod session;
