use std::fs;
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::support::{Process, TestHome, Venue, http};

fn processor_ticks(process: &Process) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum()
}

#[test]
fn a_manager_without_descriptors_waits_and_answers_when_there_are_some() {
    let venue = Venue::new();
    let mut manager = venue.manager_limited("ulimit -n 64", 2, 1);
    manager.address();
    let host = http::authority(&venue.address).0;
    let idle: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(host).unwrap()).collect();
    manager.wait_for_line("a connection could not be accepted");
    let before = processor_ticks(&manager);
    // Measures the processor time used in this second.
    sleep(Duration::from_secs(1));
    let spent = processor_ticks(&manager) - before;
    assert!(spent < 50, "it does not spin: {spent} % of a processor");
    drop(idle);
    assert!(http::call(&venue.address, "get_standings", &json!({}))["result"]["standings"].is_array());
    let _agents = [venue.referee("REF01"), venue.player("P01", "random"), venue.player("P02", "random")];
    manager.wait().success();
    venue.home.verify(1);
}

#[test]
fn too_few_descriptors_at_the_start_are_reported() {
    for few in ["ulimit -n 6", "ulimit -n 12", "ulimit -n 24"] {
        let home = TestHome::new();
        Process::limited(few, &["manager", "--port", "0", "--home", home.path()])
            .wait()
            .fails_with(&["oo many open files", "ulimit -n 4096"]);
    }
}
