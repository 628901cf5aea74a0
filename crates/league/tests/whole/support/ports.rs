//! Ports for agents that others must know before they are there, or that come back where they were.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// The ports that are tried; all of them are below the range that connections are given theirs from.
const FIRST: u32 = 10_000;
const RANGE: u32 = 22_000;
/// Every test may be a process of its own, and begins so many ports above the one before.
const APART: u32 = 20;

static TRIED: AtomicU32 = AtomicU32::new(0);

/// A port that nobody listens at, and that nobody else in this process is given.
pub(crate) fn free() -> u16 {
    let own = std::process::id() % (RANGE / APART) * APART;
    loop {
        let tried = TRIED.fetch_add(1, Ordering::Relaxed);
        assert!(tried < RANGE, "no port is free");
        let port = u16::try_from(FIRST + (own + tried) % RANGE).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
