//! Hostile agents and clients: the manager refuses them, and the league continues.

pub(crate) mod caller;
mod endpoints;
mod floods;
mod operators;
mod proxies;
mod reports;
mod secrets;
mod villains;
