//! A full disk, and missing permissions.

use std::net::TcpListener;

use crate::support::{Venue, league};

/// Limits files to this many blocks of 512 bytes. Without the signal, writing fails as on a full disk.
const FULL: &str = "trap '' XFSZ; ulimit -f 200";

#[test]
fn a_full_disk_stops_the_league_and_with_room_it_goes_on() {
    let venue = Venue::patient();
    let full = venue.manager_limited(FULL, 5, 1);
    let _referee = venue.referee("REF01");
    let _players = ["P01", "P02", "P03", "P04", "P05"].map(|id| venue.player(id, "random"));
    full.wait().fails_with(&["the event log cannot be written", "What was acknowledged is kept", "start it again"]);
    let before = venue.home.list("matches");
    assert!(before.len() < 10, "it was full before the end: {before:?}");
    venue.manager(5, 1).wait().success();
    venue.home.verify(10);
    let after = venue.home.list("matches");
    assert!(before.iter().all(|result| after.contains(result)), "{before:?} are all in {after:?}");
}

#[test]
fn a_home_that_cannot_be_written_is_reported_before_anything_begins() {
    // Even root cannot create a directory there.
    let home = "/proc/league-home";
    // An agent that binds its port first would report this one; an agent that registers first would connect to the
    // other.
    let (taken, manager) = (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    manager.set_nonblocking(true).unwrap();
    let (port, manager_at) = (taken.local_addr().unwrap().port().to_string(), manager.local_addr().unwrap());
    let address = format!("http://{manager_at}/mcp");
    for command in [&["run"][..], &["manager"], &["referee", "--manager", &address], &["player", "--manager", &address]]
    {
        let arguments = [command, &["--port", &port, "--home", home]].concat();
        let error = league(&arguments).fails_with(&[home, "--home"]);
        assert!(!error.contains("cannot listen"), "{error}");
    }
    assert!(manager.accept().is_err(), "no agent has registered");
}
