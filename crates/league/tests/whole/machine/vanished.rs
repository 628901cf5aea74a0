//! The log or the lock is deleted or replaced under a running manager.

use std::fs;
use std::path::PathBuf;

use crate::support::home::LEAGUE;
use crate::support::{Process, Venue, ports};

/// A league in its second round.
fn playing() -> (Venue, Process, Vec<Process>) {
    let venue = Venue::patient();
    let mut manager = venue.manager_with(5, 1, &[]);
    let mut agents = vec![venue.referee("REF01")];
    agents.extend(["P01", "P02", "P03", "P04", "P05"].map(|id| venue.player(id, "slow:5")));
    manager.wait_for_line("Round 2 of 5 begins.");
    (venue, manager, agents)
}

fn file(venue: &Venue, name: &str) -> PathBuf {
    venue.home.join(&format!("data/leagues/{LEAGUE}/{name}"))
}

#[test]
fn a_manager_whose_log_is_deleted_ends_at_the_next_commit() {
    for name in ["league.db", "league.db-wal", "league.db-shm"] {
        let (venue, manager, _agents) = playing();
        fs::remove_file(file(&venue, name)).unwrap();
        let gone = format!("{name} was deleted while the manager ran");
        manager.wait().fails_with(&[&gone, "No later result counts", "put a copy in its place"]);
    }
}

#[test]
fn a_manager_whose_log_is_replaced_ends_at_the_next_commit() {
    let (venue, manager, _agents) = playing();
    let (log, copy) = (file(&venue, "league.db"), file(&venue, "copy"));
    fs::copy(&log, &copy).unwrap();
    fs::rename(copy, log).unwrap();
    manager.wait().fails_with(&["league.db was replaced by another file while the manager ran"]);
}

#[test]
fn a_manager_whose_lock_is_deleted_ends_at_the_next_commit() {
    let (venue, manager, _agents) = playing();
    fs::remove_file(file(&venue, "manager.lock")).unwrap();
    manager
        .wait()
        .fails_with(&["manager.lock was deleted while the manager ran", "If another manager runs on this home"]);
    // Nothing is lost: the next manager goes on.
    venue.manager(5, 1).wait().success();
    venue.home.verify(10);
}

#[test]
fn of_two_managers_on_one_home_the_first_ends_and_the_second_goes_on() {
    let (venue, first, _agents) = playing();
    fs::remove_file(file(&venue, "manager.lock")).unwrap();
    let port = ports::free().to_string();
    let mut second = venue.home.start(&["manager", "--port", &port, "--expect-players", "5", "--expect-referees", "1"]);
    first.wait().fails_with(&["manager.lock was"]);
    second.wait_for_line("Watch it at");
    second.signal("TERM");
    second.wait().success();
    let exit = venue.home.league(&["verify"]);
    assert_ne!(exit.code, Some(1), "{}", exit.stderr);
}
