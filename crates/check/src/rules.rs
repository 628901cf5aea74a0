//! What is demanded of whom.

pub(crate) mod manager;
pub(crate) mod player;
pub(crate) mod referee;
