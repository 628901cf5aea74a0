//! Whoever wants to do the league harm: it is told so, and the league goes on.

pub(crate) mod caller;
mod endpoints;
mod floods;
mod operators;
mod reports;
mod secrets;
mod villains;
