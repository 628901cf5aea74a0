//!
//!
//! - [`home`]: where everything lies
//! - [`lock`]: one manager per league

pub mod home;
pub mod lock;
