//! `league check`: its output and its exit code.

use std::fs;

use crate::support::{TestHome, assert_contains, league, ports};

#[test]
fn a_player_is_graded_before_it_registers_as_text_json_and_junit() {
    let (home, port) = (TestHome::new(), ports::free());
    let mut player = home.start(&["player", "--port", &port.to_string(), "--manager", &ports::free_endpoint()]);
    ports::wait_until_listening(port, &mut player);
    let endpoint = ports::endpoint(port);
    let report = league(&["check", &endpoint]).success().stdout;
    assert_contains(&report, &["grade: 100 % of required", "0 quirks"]);
    let junit = home.join("report.xml");
    let report = league(&["check", &endpoint, "--json", "--junit", junit.to_str().unwrap()]).success().json();
    assert_eq!((&report["role"], &report["set"]), (&"player".into(), &"league.v2/2026-11".into()));
    assert_contains(&fs::read_to_string(junit).unwrap(), &["failures=\"0\""]);
}

#[test]
fn an_agent_that_does_not_listen_fails_the_check_with_advice() {
    let exit = league(&["check", &ports::free_endpoint()]);
    assert_eq!(exit.code, Some(1));
    assert_contains(&exit.stdout, &["Nothing listens", "Start the agent first"]);
}

#[test]
fn a_list_of_accepted_failures_may_only_name_known_rules() {
    let home = TestHome::new();
    fs::write(home.join("known.txt"), "player.choice.exakt\n").unwrap();
    let known = home.join("known.txt");
    league(&["check", "http://127.0.0.1:9/mcp", "--accept", known.to_str().unwrap()])
        .fails_with(&["line 1", "player.choice.exakt"]);
}

#[test]
fn a_manager_is_checked_only_with_a_flag_and_one_that_requires_checks_admits_our_player() {
    let home = TestHome::new();
    let mut manager = home.start(&["manager", "--port", "0", "--require-check"]);
    let address = manager.address();
    league(&["check", &address]).fails_with(&["--role manager"]);
    home.start(&["player", "--port", "0", "--manager", &address]).wait_for_line("P01 plays");
}
