//! What the tests share: processes that never outlive their test, homes, ports, and what a league left behind.
//!
//! Nothing here waits by the clock alone: a wait ends with a line that was written or a process that ended, and a limit only
//! turns a hang into a failure.

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

/// Runs `league` with `arguments` to its end.
pub(crate) fn league(arguments: &[&str]) -> Ended {
    Process::start(arguments).ended()
}
