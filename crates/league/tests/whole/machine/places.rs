//! Two processes want the same home or port.

use crate::support::{Process, TestHome, Venue, league};

#[test]
fn the_second_manager_is_told_who_was_first_since_when_and_where() {
    let home = TestHome::new();
    let arguments = ["manager", "--port", "0", "--home", home.path()];
    let mut first = Process::start(&arguments);
    let address = first.address();
    for command in ["manager", "run"] {
        let told = league(&[command, "--port", "0", "--home", home.path()]).badly();
        assert!(told.contains(&format!("is held by process {} since 20", first.id())), "{told}");
        assert!(told.contains(&format!("at {address}")) && told.contains("stop that manager first"), "{told}");
    }
    // A lock that a killed process left behind blocks no other process.
    first.kill_and_restart();
    first.address();
}

#[test]
fn a_killed_agent_gets_its_port_back_at_once() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &[]);
    manager.address();
    for _ in 0..3 {
        // A client was connected, so its end of the connection stays for a minute.
        assert!(crate::support::http::call(&venue.address, "ping", &serde_json::json!({})).is_object());
        manager.kill_and_restart();
        manager.address();
    }
}
