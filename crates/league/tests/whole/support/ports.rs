//! Ports for agents that others must know before they start, or that restart at the same port.

use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Process, poll};

/// Below the ephemeral range of connections.
const FIRST: u32 = 10_000;
const RANGE: u32 = 22_000;
/// Tests may be separate processes; each begins this many ports above the one before.
const APART: u32 = 20;

static TRIED: AtomicU32 = AtomicU32::new(0);

/// Returns each port once per process.
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

pub(crate) fn endpoint(port: u16) -> String {
    format!("http://127.0.0.1:{port}/mcp")
}

/// An endpoint at which no program listens.
pub(crate) fn free_endpoint() -> String {
    endpoint(free())
}

pub(crate) fn wait_until_listening(port: u16, process: &mut Process) {
    poll("listening", || {
        assert!(!process.has_exited(), "nothing listens at {port}");
        TcpStream::connect(("127.0.0.1", port)).ok()
    });
}
