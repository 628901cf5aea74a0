//! The official clients in Python and TypeScript, and FastMCP's, old and new: each lists the tools and calls some.

use std::process::Command;

use super::seen::{HANDSHAKE, MODERN, Seen};
use super::{Servers, beside, node, peers, printed};

/// `expected` is the revision that the client must report.
fn converse(mut script: Command, client: &str, expected: Option<&str>) {
    let Servers { servers, .. } = &Servers::start();
    script.arg(client);
    for server in servers {
        script.args([&server.url, server.good, server.bad]);
    }
    let out = printed(&mut script);
    let seen: Vec<Seen> = serde_json::from_str(out.lines().last().unwrap_or_default()).unwrap();
    assert_eq!(seen.len(), servers.len());
    for (seen, server) in seen.iter().zip(servers) {
        seen.check(server, expected);
    }
}

fn python(packages: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(beside("session.py")).env("PYTHONPATH", peers().join(packages)).env("PYTHONWARNINGS", "ignore");
    command
}

fn typescript() -> Command {
    let mut command = node();
    command.arg(beside("session.mjs"));
    command
}

#[test]
#[ignore = "needs cargo xtask ci, which installs the clients"]
fn every_official_client_and_fastmcp_lists_and_calls_the_tools() {
    converse(python("python"), "mcp:auto", Some(MODERN));
    converse(python("python"), "mcp:legacy", Some(HANDSHAKE));
    converse(python("python-old"), "mcp", Some(HANDSHAKE));
    converse(python("python"), "fastmcp", None);
    converse(python("python-old"), "fastmcp", None);
    converse(typescript(), "sdk", Some(HANDSHAKE));
    converse(typescript(), "client:auto", Some(MODERN));
    converse(typescript(), "client:legacy", Some(HANDSHAKE));
    converse(typescript(), "client:2026-07-28", Some(MODERN));
}
