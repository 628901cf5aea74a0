//! Shared by the tests: processes that never outlive their test, homes, ports.
//!
//! A wait ends with a printed line or the exit of a process.

pub(crate) mod home;
pub(crate) mod http;
pub(crate) mod kit;
pub(crate) mod ports;
pub(crate) mod process;
pub(crate) mod stand_in;
pub(crate) mod venue;
pub(crate) mod wiretap;

use std::thread::sleep;
use std::time::{Duration, Instant};

pub(crate) use home::{TestHome, assert_played, read_json, read_json_lines};
pub(crate) use kit::Kit;
pub(crate) use process::{Exit, Process, wait_for_all};
pub(crate) use stand_in::{register_player, stand_in};
pub(crate) use venue::Venue;

pub(crate) fn league(arguments: &[&str]) -> Exit {
    Process::start(arguments).wait()
}

/// A limit turns a hang into a failure.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

#[track_caller]
pub(crate) fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

/// Repeats `attempt` until it returns a value. For states of which no signal tells.
#[track_caller]
pub(crate) fn poll<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(value) = attempt() {
            return value;
        }
        assert!(Instant::now() < end, "timed out: {what}");
        sleep(Duration::from_millis(10));
    }
}
