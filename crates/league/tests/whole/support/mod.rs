//! Shared by the tests: processes that never outlive their test, homes, ports.
//!
//! A wait ends with a printed line or the exit of a process. A limit only turns a hang into a failure.

pub(crate) mod home;
pub(crate) mod http;
pub(crate) mod kit;
pub(crate) mod ports;
pub(crate) mod process;
pub(crate) mod stand_in;
pub(crate) mod venue;
pub(crate) mod wiretap;

pub(crate) use home::TestHome;
pub(crate) use kit::Kit;
pub(crate) use process::{Ended, Process};
pub(crate) use stand_in::{Reaction, StandIn};
pub(crate) use venue::Venue;

pub(crate) fn league(arguments: &[&str]) -> Ended {
    Process::start(arguments).ended()
}
