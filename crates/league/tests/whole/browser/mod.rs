//! The pages in a real browser: Chromium, installed by `cargo xtask ci`.
//!
//! `see.mjs` looks at a page and fails with what is wrong. Without `LEAGUE_PEERS` these tests are ignored.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::peers::{node, peers};
use crate::support::{Process, TestHome, Venue};

const BROWSER: &str = "/usr/bin/chromium";

pub(crate) fn looker(what: &str, site: &str) -> Command {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/whole/browser/see.mjs");
    let mut command = node();
    command.arg(script).arg(peers().join("node/node_modules")).args([BROWSER, what, site]);
    command
}

pub(crate) fn look(looker: &mut Command) {
    let output = looker.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{looker:?}: {}\n{stderr}", output.status);
}

/// Watches a league from its registration to its champion; `play` begins once the browser watches.
pub(crate) fn watch_live(looker: &mut Command, play: impl FnOnce()) {
    let mut browser = looker.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(browser.stdout.take().unwrap()).lines();
    let watching = lines.next().is_some_and(|line| line.is_ok_and(|line| line == "watching"));
    play();
    let mut stderr = String::new();
    browser.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(browser.wait().unwrap().success() && watching, "{stderr}");
}

fn address_of(process: &mut Process) -> String {
    let line = process.wait_for_line("Watch it at");
    line.split(' ').find(|word| word.starts_with("http://")).unwrap().to_owned()
}

#[test]
#[ignore = "needs cargo xtask ci, which installs a browser"]
fn a_league_is_watched_from_its_registration_to_its_champion_without_a_reload() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(4, 1, &[]);
    let site = address_of(&mut manager);
    let mut agents = Vec::new();
    watch_live(&mut looker("live", &site), || {
        agents.push(venue.referee("REF01"));
        agents.extend(["P01", "P02", "P03", "P04"].map(|id| venue.player(id, "random")));
    });
}

/// `see.mjs` verifies draws, reads pages without a script, uses the keys alone, and tries widths and axe.
#[test]
#[ignore = "needs cargo xtask ci, which installs a browser"]
fn a_finished_league_can_be_verified_and_its_pages_are_accessible() {
    let home = TestHome::new();
    let mut run = home.start(&["run", "--players", "5", "--port", "0", "--stay", "--seed", "7"]);
    let site = address_of(&mut run);
    run.wait_for_line("Serving until Ctrl-C.");
    for check in ["verify", "still", "keys", "shape"] {
        look(&mut looker(check, &site));
    }
}
