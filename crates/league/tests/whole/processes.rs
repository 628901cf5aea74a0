//! `league manager`, `league referee`, `league player`: every agent in its own process.

use serde_json::json;

use crate::support::{TestHome, Venue, assert_contains, assert_played, http, wait_for_all};

#[test]
fn any_start_order_works_and_all_agents_exit() {
    let venue = Venue::new();
    let players = ["P01", "P02", "P03"].map(|id| (venue.player(id, "markov"), format!("{id} plays markov")));
    let referees = ["REF01", "REF02"].map(|id| (venue.referee(id), format!("{id} is ready")));
    let standings = venue.manager(3, 2).wait().success().json();
    assert_played(&standings, 2);
    for (agent, line) in players.into_iter().chain(referees) {
        assert_contains(&agent.wait().success().stderr, &[&line]);
    }
    venue.home.verify(3);
    assert_eq!(venue.home.json("standings"), standings);
}

#[test]
fn a_restarted_manager_repeats_the_end_of_its_league() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &[]);
    let (_referee, mut player) = (venue.referee("REF01"), venue.player("P01", "random"));
    let _other = venue.player("P02", "random");
    manager.wait_for_end_of_league();
    // The restarted player knows nothing of the end, as if the notice had been lost.
    player.kill_and_restart();
    player.wait_for_line("P01 plays");
    manager.kill();
    venue.manager(2, 1).wait().success();
    player.wait().success();
    venue.home.verify(1);
}

#[test]
fn after_the_end_restarted_agents_exit_and_new_ones_are_refused() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &[]);
    let mut agents = [venue.referee("REF01"), venue.player("P01", "random")];
    let _other = venue.player("P02", "random");
    manager.wait_for_end_of_league();
    for (agent, line) in agents.iter_mut().zip(["is ready", "P01 plays"]) {
        // It may have exited already; the restarted agent knows nothing of the end.
        agent.kill_and_restart();
        agent.wait_for_line(line);
    }
    wait_for_all(agents);
    venue.player("P03", "random").wait().fails_with(&["did not let us in", "Registration closed"]);
    venue.home.verify(1);
}

#[test]
fn an_agent_answers_to_the_names_that_it_advertises_and_to_no_other() {
    let venue = Venue::new();
    let names = "http://league.example:8000/mcp,https://proxy.example/mcp";
    let mut manager = venue.manager_with(2, 1, &["--advertise", names]);
    assert_eq!(manager.address(), "http://league.example:8000/mcp");
    let call = |name: &str| http::call_by_name(&venue.address, name, "get_standings", &json!({}));
    for name in ["league.example:8000", "proxy.example"] {
        assert!(call(name)["result"]["standings"].is_array(), "{name}");
    }
    assert_contains(call("evil.example:8000")["error"].as_str().unwrap(), &["is not a name of this server"]);
}

/// Stands for several machines: each agent has its own loopback address and home, and takes a free port.
#[test]
fn every_agent_may_have_its_own_address_and_home() {
    let homes = [(); 4].map(|()| TestHome::new());
    let expected = ["--expect-players", "2", "--expect-referees", "1", "--exit-when-done"];
    let place = ["manager", "--host", "127.0.0.5", "--port", "0"];
    let mut manager = homes[0].start(&[&place[..], &expected].concat());
    let address = manager.address();
    let agents =
        [("referee", "127.0.0.4"), ("player", "127.0.0.3"), ("player", "127.0.0.2")].into_iter().zip(&homes[1..]);
    let start = |((role, host), home): ((&str, &str), &TestHome)| {
        home.start(&[role, "--host", host, "--port", "0", "--manager", &address])
    };
    let agents: Vec<_> = agents.map(start).collect();
    manager.wait().success();
    wait_for_all(agents);
    homes[0].verify(1);
    assert!(homes[1].match_path("R1M1").exists());
    assert!(homes[0].join("logs/league/league_2025_even_odd/league.log.jsonl").exists());
    assert!(homes[1].join("logs/agents/REF01.log.jsonl").exists());
}
