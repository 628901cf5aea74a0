//! The official clients in Python and TypeScript, and FastMCP's, old and new: each lists the tools and calls some.

use std::process::Command;

use super::seen::{HANDSHAKE, MODERN, Seen};
use super::{Servers, beside, node, peers, printed};

/// `expected` is the revision that the client must report.
fn converse(mut script: Command, client: &str, expected: Option<&str>) {
    let cast = Servers::start();
    script.arg(client);
    for server in &cast.servers {
        script.args([&server.url, server.good, server.bad]);
    }
    let out = printed(&mut script);
    let seen: Vec<Seen> = serde_json::from_str(out.lines().last().unwrap_or_default()).unwrap();
    assert_eq!(seen.len(), cast.servers.len());
    for (seen, server) in seen.iter().zip(&cast.servers) {
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
#[ignore = "needs cargo xtask ci, which installs the client"]
fn python_mcp_finds_out_what_we_speak() {
    converse(python("python"), "mcp:auto", Some(MODERN));
}

#[test]
#[ignore = "needs cargo xtask ci, which installs the client"]
fn python_mcp_shakes_hands_when_told_to() {
    converse(python("python"), "mcp:legacy", Some(HANDSHAKE));
}

#[test]
#[ignore = "needs cargo xtask ci, which installs the client"]
fn python_mcp_of_the_first_version_shakes_hands() {
    converse(python("python-old"), "mcp", Some(HANDSHAKE));
}

#[test]
#[ignore = "needs cargo xtask ci, which installs the client"]
fn fastmcp_converses() {
    converse(python("python"), "fastmcp", None);
}

#[test]
#[ignore = "needs cargo xtask ci, which installs the client"]
fn fastmcp_of_the_second_version_converses() {
    converse(python("python-old"), "fastmcp", None);
}

#[test]
#[ignore = "needs cargo xtask ci, which installs the client"]
fn the_typescript_sdk_of_the_first_version_shakes_hands() {
    converse(typescript(), "sdk", Some(HANDSHAKE));
}

#[test]
#[ignore = "needs cargo xtask ci, which installs the client"]
fn the_typescript_client_speaks_either_way() {
    converse(typescript(), "client:auto", Some(MODERN));
    converse(typescript(), "client:legacy", Some(HANDSHAKE));
    converse(typescript(), "client:2026-07-28", Some(MODERN));
}
