//! The players in `examples/`: started by one command, on this machine or another, and right.

use std::fs;
use std::net::TcpStream;
use std::path::Path;

use serde_json::Value;

use crate::support::{Example, Venue, league, ports};

/// The flags by which a player plays on a machine of its own; `league player` has the same.
const FLAGS: [&str; 6] = ["--manager", "--name", "--host", "--port", "--advertise", "--join-key"];

#[test]
fn every_example_says_in_its_readme_which_flags_it_takes() {
    for example in Example::ALL {
        let readme = fs::read_to_string(example.source().with_file_name("README.md"))
            .or_else(|_| fs::read_to_string(example.source().parent().unwrap().with_file_name("README.md")))
            .unwrap();
        let missing: Vec<_> = FLAGS.iter().filter(|flag| !readme.contains(&format!("`{flag}`"))).collect();
        assert!(missing.is_empty(), "{example:?} does not mention {missing:?}");
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
