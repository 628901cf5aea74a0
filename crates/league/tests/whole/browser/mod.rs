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

fn archived(home: &TestHome) -> (Process, String) {
    let mut show = home.start(&["show", "--port", "0"]);
    let line = show.wait_for_line("is shown at");
    let site = line.split(' ').find(|word| word.starts_with("http://")).unwrap().to_owned();
    (show, site)
}

fn served(home: &TestHome, more: &[&str]) -> (Process, String) {
    let mut run = home.start(&[&["run", "--port", "0", "--stay", "--seed", "7"], more].concat());
    let site = address_of(&mut run);
    run.wait_for_line("Serving until Ctrl-C.");
    (run, site)
}

#[test]
#[ignore = "needs cargo xtask ci, which installs a browser"]
fn a_league_is_watched_from_its_registration_to_its_champion_without_a_reload() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(4, 1, &[]);
    let site = address_of(&mut manager);
    look(looker("shape", &site).arg(",crosstable,schedule,agents,log,projector"));
    let mut agents = Vec::new();
    watch_live(&mut looker("live", &site), || {
        agents.push(venue.referee("REF01"));
        agents.extend(["P01", "P02", "P03", "P04"].map(|id| venue.player(id, "random")));
    });
}

/// `see.mjs` verifies draws, reads pages without a script, uses the keys alone, prints, and tries widths and axe.
#[test]
#[ignore = "needs cargo xtask ci, which installs a browser"]
fn a_finished_league_can_be_verified_and_its_pages_are_accessible() {
    let home = TestHome::new();
    let (mut run, site) = served(&home, &["--players", "5"]);
    look(&mut looker("verify,still,facts,keys,pin,phone,print,projector,sort,shape", &site));
    run.kill();
    let (_archive, site) = archived(&home);
    look(looker("shape", &site).arg(",matches/R1M1"));
}

#[test]
#[ignore = "needs cargo xtask ci, which installs a browser"]
fn a_board_game_is_watched_live_and_a_league_is_accessible_when_it_is_live_stopped_and_archived() {
    let home = TestHome::new();
    let mut run = home.start(&["run", "--port", "0", "--stay", "--game", "connect_four", "--strategies", "slow:5"]);
    let site = address_of(&mut run);
    look(looker("duel", &site).arg("board"));
    look(looker("shape", &site).arg(",schedule,agents,players/P01,matches/R1M1,matches/R3M1,projector"));
    look(looker("stop,shape", &site).arg(",schedule,agents,matches/R1M1,matches/R3M1"));
    run.kill();
    let (_archive, site) = archived(&home);
    look(looker("shape", &site).arg(",schedule,agents,players/P01,matches/R1M1,matches/R3M1,projector"));
}

#[test]
#[ignore = "needs cargo xtask ci, which installs a browser"]
fn the_number_of_even_odd_is_revealed_to_a_viewer_of_the_match() {
    let home = TestHome::new();
    let mut run = home.start(&["run", "--port", "0", "--stay", "--players", "4", "--strategies", "slow:20"]);
    let site = address_of(&mut run);
    look(&mut looker("duel", &site));
}

#[test]
#[ignore = "needs cargo xtask ci, which installs a browser"]
fn a_board_game_and_a_list_of_moves_are_replayed_by_keys() {
    let home = TestHome::new();
    let (_run, site) = served(&home, &["--game", "tic_tac_toe", "--games-per-match", "2", "--pace", "100ms"]);
    look(&mut looker("replay,shape", &site));
    let home = TestHome::new();
    let (_run, site) = served(&home, &["--game", "leduc_poker", "--games-per-match", "4", "--players", "2"]);
    look(looker("replay", &site).arg("list"));
    look(looker("shape", &site).arg("matches/R1M1"));
}

#[test]
#[ignore = "needs cargo xtask ci, which installs a browser"]
fn the_list_of_leagues_is_accessible() {
    let home = TestHome::new();
    let (run, _) = served(&home, &["--players", "4", "--league-id", "autumn"]);
    drop(run);
    let mut serve = home.start(&["serve", "--port", "0"]);
    let site = serve.wait_for_line("The leagues are at").rsplit(' ').next().unwrap().to_owned();
    serve.wait_for_line("this process leads it");
    Process::start(&["create", "spring", "--format", "knockout", "--manager", &site]).wait().success();
    look(looker("shape", &site).arg(",nothing"));
}

#[test]
#[ignore = "needs cargo xtask ci, which installs a browser"]
fn a_knockout_is_a_bracket_and_swiss_pairings_have_reasons() {
    for format in ["knockout", "swiss"] {
        let home = TestHome::new();
        let (_run, site) = served(&home, &["--players", "4", "--format", format]);
        look(&mut looker(if format == "knockout" { "bracket" } else { "swiss" }, &site));
        look(looker("shape", &site).arg(",schedule,players/P01"));
    }
}
