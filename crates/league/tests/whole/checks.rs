//! `league check`: its output and its exit code.

use crate::support::{Process, TestHome, league, ports};

fn player(home: &TestHome) -> (Process, String) {
    let port = ports::free().to_string();
    let manager = format!("http://127.0.0.1:{}/mcp", ports::free());
    let player = Process::start(&["player", "--port", &port, "--manager", &manager, "--home", home.path()]);
    let endpoint = format!("http://127.0.0.1:{port}/mcp");
    // It prints nothing before it is registered, so the test polls its port.
    while std::net::TcpStream::connect(("127.0.0.1", port.parse().unwrap())).is_err() {
        std::thread::yield_now();
    }
    (player, endpoint)
}

#[test]
fn our_player_is_graded_before_it_registers_for_people_and_programs() {
    let home = TestHome::new();
    let (_player, endpoint) = player(&home);
    let told = league(&["check", &endpoint]).well().out;
    assert!(told.contains("grade: 100 % of required") && told.contains("0 quirks"), "{told}");
    let junit = home.join("report.xml");
    let report = league(&["check", &endpoint, "--json", "--junit", junit.to_str().unwrap()]).well().json();
    assert_eq!((&report["role"], &report["set"]), (&"player".into(), &"league.v2/2026-11".into()));
    assert!(std::fs::read_to_string(junit).unwrap().contains("failures=\"0\""));
}

#[test]
fn an_agent_that_does_not_listen_fails_the_check_with_advice() {
    let ended = league(&["check", &format!("http://127.0.0.1:{}/mcp", ports::free())]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("Nothing listens") && ended.out.contains("Start the agent first"), "{}", ended.out);
}

#[test]
fn what_is_wrong_with_the_arguments_is_said() {
    assert_eq!(league(&["check", "not a url"]).code, Some(2));
    let told = league(&["check", "http://127.0.0.1:9/mcp", "--set", "league.v9"]).badly();
    assert!(told.contains("league.v2/2026-11"), "{told}");
    let home = TestHome::new();
    std::fs::write(home.join("known.txt"), "player.choice.exakt\n").unwrap();
    let known = home.join("known.txt");
    let told = league(&["check", "http://127.0.0.1:9/mcp", "--accept", known.to_str().unwrap()]).badly();
    assert!(told.contains("line 1") && told.contains("player.choice.exakt"), "{told}");
}

#[test]
fn a_manager_is_checked_only_when_that_is_said() {
    let home = TestHome::new();
    let mut manager = Process::start(&["manager", "--port", "0", "--home", home.path()]);
    let told = league(&["check", &manager.address()]).badly();
    assert!(told.contains("--role manager"), "{told}");
}

#[test]
fn a_choosy_manager_lets_our_player_in() {
    let home = TestHome::new();
    let mut manager = Process::start(&["manager", "--port", "0", "--home", home.path(), "--require-check"]);
    let address = manager.address();
    let mut player = Process::start(&["player", "--port", "0", "--manager", &address, "--home", home.path()]);
    player.says("P01 plays");
}
