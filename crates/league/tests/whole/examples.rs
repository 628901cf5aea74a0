//! The players in `examples/`: short, started by one command, and right.

use std::fs;
use std::net::TcpStream;
use std::path::Path;

use serde_json::Value;

use crate::support::{Example, Venue, league, ports};

/// How long a player to start from may be.
const LINES: usize = 80;

#[test]
fn no_example_is_longer_than_a_newcomer_reads() {
    for example in Example::ALL {
        let lines = fs::read_to_string(example.source()).unwrap().lines().count();
        assert!(lines <= LINES, "{example:?} has {lines} lines");
    }
}

/// Two lists of packages that must not drift apart: what an example tells to install, and what it is tested with.
#[test]
fn the_examples_are_tested_with_what_they_ask_for() {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let (wanted, tested) =
        (read("../../examples/python-fastmcp/requirements.txt"), "tests/whole/peers/requirements.txt");
    assert!(wanted.lines().all(|line| read(tested).lines().any(|known| known == line)), "{wanted}");
    let wanted: Value = serde_json::from_str(&read("../../examples/typescript-sdk/package.json")).unwrap();
    let tested: Value = serde_json::from_str(&read("tests/whole/peers/package-lock.json")).unwrap();
    for (package, version) in wanted["dependencies"].as_object().unwrap() {
        assert_eq!(tested["packages"][format!("node_modules/{package}")]["version"], *version, "{package}");
    }
}

/// It plays with two of ours, and goes home at the end.
fn plays(example: Example, more: &[&str]) {
    let venue = Venue::patient();
    let guest = example.join(&venue.address, "Guest", more);
    let manager = venue.manager(3, 1);
    let _ours = [venue.referee("REF01"), venue.player("P08", "markov"), venue.player("P09", "random")];
    let standings = manager.ended().well().json();
    assert!(standings.as_array().unwrap().iter().all(|row| row["played"] == 2), "{standings}");
    venue.home.verify(3);
    assert_eq!(venue.home.forfeits(), 0);
    assert_eq!(venue.home.tells("verify")["draws_proved"], 3);
    guest.ended().well();
}

/// It is graded before its league, and has nothing to change.
fn is_right(example: Example, more: &[&str]) {
    let (port, nobody) = (ports::free(), format!("http://127.0.0.1:{}/mcp", ports::free()));
    let mut guest = example.start(port, &nobody, "Guest", more);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(!guest.is_over(), "{example:?}: {}", guest.ended().talk);
        std::thread::yield_now();
    }
    let told = league(&["check", &format!("http://127.0.0.1:{port}/mcp")]).well().out;
    for part in ["grade: 100 % of required (", "), 100 % of recommended ("] {
        assert!(told.contains(part), "{example:?}: {told}");
    }
}

macro_rules! examples {
    ($($name:ident: $example:ident $more:expr;)*) => {
        $(mod $name {
            use super::*;

            #[test]
            #[ignore = "needs cargo xtask test, which installs what it is written with"]
            fn plays_a_league() {
                plays(Example::$example, &$more);
            }

            #[test]
            #[ignore = "needs cargo xtask test, which installs what it is written with"]
            fn is_graded_without_fault() {
                is_right(Example::$example, &$more);
            }
        })*
    };
}

examples! {
    python: Python [];
    fastmcp: FastMcp [];
    fastmcp_stateless: FastMcp ["--stateless"];
    node: Node [];
    typescript: TypeScript [];
    typescript_stateless: TypeScript ["--stateless"];
    rust: Rust [];
}
