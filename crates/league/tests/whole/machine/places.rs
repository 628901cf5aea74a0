//! Two processes want the same home.

use crate::support::TestHome;

#[test]
fn a_second_manager_is_told_which_process_holds_the_home_since_when_and_where() {
    let home = TestHome::new();
    let mut first = home.start(&["manager", "--port", "0"]);
    let (address, holder) = (first.address(), format!("is held by process {} since 20", first.id()));
    for command in ["manager", "run"] {
        let parts = [&holder, &format!("at {address}"), "stop that manager first"];
        home.league(&[command, "--port", "0"]).fails_with(&parts);
    }
    // A lock that a killed process left behind blocks no other process.
    first.kill_and_restart();
    first.address();
}
