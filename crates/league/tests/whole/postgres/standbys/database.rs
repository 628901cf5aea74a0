//! A database whose disk is full, and one whose clock jumps.

use std::time::Instant;

use super::{Fleet, TAKEOVER};
use crate::postgres::server::{TestServer, is_root};
use crate::support::poll;

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn a_full_disk_of_the_database_halts_the_league_and_with_room_it_goes_on() {
    if !is_root() {
        println!("skipped: only root can make a small disk");
        return;
    }
    let mut fleet = Fleet::start(TestServer::with_disk(96), 1);
    fleet.wait_for_results(2);
    let leader = fleet.leader();
    fleet.server.fill_disk();
    let refused = ["the store refuses what belongs to the log", "the event log cannot be written"];
    fleet.managers[leader].process.wait_for_any(&refused);
    fleet.server.free_disk();
    // A server that cannot write ahead ends.
    if !fleet.server.is_running() {
        fleet.server.resume();
    }
    fleet.restart();
    fleet.finish();
}

const HOUR: i64 = 3600;

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn jumps_of_the_database_clock_neither_stop_the_league_nor_let_two_managers_write() {
    let mut fleet = Fleet::start(TestServer::with_clock(), 1);
    for (results, ahead) in [(2, HOUR), (4, 0), (6, HOUR)] {
        fleet.wait_for_results(results);
        let (leader, epoch, before) = (fleet.leader(), fleet.epoch(), fleet.count("match_assigned"));
        let since = Instant::now();
        fleet.server.set_clock(ahead);
        poll("the next match", || (fleet.count("match_assigned") > before).then_some(()));
        assert!(since.elapsed() < TAKEOVER, "{ahead}: {:?}", since.elapsed());
        // The standby took the lease, unless the leader renewed it first.
        if poll("a lease by the new clock", || fleet.epoch_by_the_clock()) > epoch {
            fleet.restart_deposed(leader);
        }
    }
    // The leader has renewed its lease an hour ahead, and dies in the moment in which the clock goes back.
    fleet.wait_for_results(8);
    let (leader, epoch, since) = (fleet.leader(), fleet.epoch(), Instant::now());
    fleet.managers[leader].process.signal("STOP");
    fleet.server.set_clock(0);
    fleet.managers[leader].process.kill();
    let took = fleet.wait_for_successor(epoch, since);
    assert!(took < TAKEOVER, "{took:?}");
    fleet.managers[leader].restart();
    fleet.finish();
}
