//! What the league's messages mean, as pure state machines.

pub mod bout;
pub mod record;
pub mod rehearsal;
pub mod rules;
pub mod season;
pub mod seat;
