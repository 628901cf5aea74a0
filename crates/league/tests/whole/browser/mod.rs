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

pub(crate) fn looked(looker: &mut Command) {
    let output = looker.output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{looker:?}: {}\n{talk}", output.status);
}

/// Watches a league from its registration to its champion; `play` begins once the browser watches.
pub(crate) fn watched(looker: &mut Command, play: impl FnOnce()) {
    let mut looking = looker.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(looking.stdout.take().unwrap()).lines();
    let began = said.next().is_some_and(|line| line.is_ok_and(|line| line == "watching"));
    play();
    let mut talk = String::new();
    looking.stderr.take().unwrap().read_to_string(&mut talk).unwrap();
    assert!(looking.wait().unwrap().success() && began, "{talk}");
}

fn address_of(process: &mut Process) -> String {
    let line = process.says("Watch it at");
    line.split(' ').find(|word| word.starts_with("http://")).unwrap().to_owned()
}

fn after_the_end(what: &str) {
    let home = TestHome::new();
    let arguments = ["run", "--players", "5", "--port", "0", "--stay", "--seed", "7", "--home", home.path()];
    let mut run = Process::start(&arguments);
    let site = address_of(&mut run);
    run.says("Serving until Ctrl-C.");
    looked(&mut looker(what, &site));
}

#[test]
#[ignore = "needs cargo xtask ci, which installs a browser"]
fn a_league_is_watched_from_its_registration_to_its_champion_without_a_reload() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(4, 1, &[]);
    let site = address_of(&mut manager);
    let mut agents = Vec::new();
    watched(&mut looker("live", &site), || {
        agents.push(venue.referee("REF01"));
        agents.extend(["P01", "P02", "P03", "P04"].map(|id| venue.player(id, "random")));
    });
}

#[test]
#[ignore = "needs cargo xtask ci, which installs a browser"]
fn a_draw_is_verified_in_the_page_and_a_tampered_one_refused() {
    after_the_end("verify");
}

#[test]
#[ignore = "needs cargo xtask ci, which installs a browser"]
fn every_page_is_of_use_without_a_script() {
    after_the_end("still");
}

#[test]
#[ignore = "needs cargo xtask ci, which installs a browser"]
fn the_keys_alone_are_enough() {
    after_the_end("keys");
}

#[test]
#[ignore = "needs cargo xtask ci, which installs a browser"]
fn every_page_fits_every_width_and_axe_finds_nothing_serious() {
    after_the_end("shape");
}
