//! The rules by role.

pub(crate) mod manager;
pub(crate) mod player;
pub(crate) mod referee;
