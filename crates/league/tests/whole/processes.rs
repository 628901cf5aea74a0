//! `league manager`, `league referee`, `league player`: every agent in its own process.

use serde_json::json;

use crate::support::{Process, TestHome, Venue, http};

#[test]
fn any_start_order_works_and_all_agents_end() {
    let venue = Venue::new();
    let players = ["P01", "P02", "P03"].map(|id| (id, venue.player(id, "markov")));
    let referees = ["REF01", "REF02"].map(|id| (id, venue.referee(id)));
    let standings = venue.manager(3, 2).ended().well().json();
    assert!(standings.as_array().unwrap().iter().all(|row| row["played"] == 2), "{standings}");
    for (id, player) in players {
        assert!(player.ended().well().talk.contains(&format!("{id} plays markov")));
    }
    for (id, referee) in referees {
        assert!(referee.ended().well().talk.contains(&format!("{id} is ready")));
    }
    venue.home.verify(3);
    assert_eq!(venue.home.tells("standings"), standings);
}

#[test]
fn a_free_port_is_said_where_one_is_asked_for() {
    let home = TestHome::new();
    let arguments = ["manager", "--port", "0", "--home", home.path(), "--expect-players", "2", "--exit-when-done"];
    let mut manager = Process::start(&arguments);
    let address = manager.address();
    let agents = [
        ["referee", "--port", "0", "--manager", &address],
        ["player", "--port", "0", "--manager", &address],
        ["player", "--port", "0", "--manager", &address],
    ];
    let agents = agents.map(|agent| Process::start(&[&agent[..], &["--home", home.path()]].concat()));
    manager.ended().well();
    for agent in agents {
        agent.ended().well();
    }
    home.verify(1);
}

#[test]
fn a_manager_that_comes_back_to_a_finished_league_tells_who_has_not_heard() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &[]);
    let (_referee, mut player) = (venue.referee("REF01"), venue.player("P01", "random"));
    let _other = venue.player("P02", "random");
    manager.says("The league is over. Serving until Ctrl-C.");
    // The restarted player knows nothing of the end, as if the notice had been lost.
    player.kill_and_restart();
    player.says("P01 plays");
    manager.kill();
    venue.manager(2, 1).ended().well();
    player.ended().well();
    venue.home.verify(1);
}

#[test]
fn who_comes_back_when_all_is_over_is_told_so() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &[]);
    let mut agents = [("is ready", venue.referee("REF01")), ("P01 plays", venue.player("P01", "random"))];
    let _other = venue.player("P02", "random");
    manager.says("The league is over. Serving until Ctrl-C.");
    for (says, agent) in &mut agents {
        // It may have exited already; the restarted agent knows nothing of the end.
        agent.kill_and_restart();
        agent.says(says);
    }
    for (_, agent) in agents {
        agent.ended().well();
    }
    venue.home.verify(1);
}

#[test]
fn an_agent_answers_to_the_name_that_it_advertises_and_to_no_other() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &["--advertise", "http://league.example:8000/mcp"]);
    assert_eq!(manager.address(), "http://league.example:8000/mcp");
    let ping = |name: &str| http::call_by_name(&venue.address, name, "get_standings", &json!({}));
    assert!(ping("league.example:8000")["result"]["standings"].is_array());
    assert!(ping("evil.example:8000")["error"].as_str().unwrap().contains("is not a name of this server"));
}

/// Stands for several machines: each agent has its own loopback address and home.
#[test]
fn every_agent_may_have_its_own_address_and_home() {
    let homes = [(); 4].map(|()| TestHome::new());
    let listen = |host: &'static str, home: &TestHome| {
        ["--host", host, "--port", "0", "--home", home.path()].map(String::from).to_vec()
    };
    let start = |role: &str, more: Vec<String>| Process::start(&[vec![role.to_owned()], more].concat());
    let manages = ["--expect-players", "2", "--expect-referees", "1", "--exit-when-done"].map(String::from).to_vec();
    let mut manager = start("manager", [listen("127.0.0.5", &homes[0]), manages].concat());
    let address = ["--manager".to_owned(), manager.address()].to_vec();
    let agents = [("referee", "127.0.0.4"), ("player", "127.0.0.3"), ("player", "127.0.0.2")];
    let agents: Vec<Process> = agents
        .into_iter()
        .zip(&homes[1..])
        .map(|((role, host), home)| start(role, [listen(host, home), address.clone()].concat()))
        .collect();
    manager.ended().well();
    for agent in agents {
        agent.ended().well();
    }
    assert!(homes[1].join("data/matches/league_2025_even_odd/R1M1.json").exists());
    assert!(homes[0].join("logs/league/league_2025_even_odd/league.log.jsonl").exists());
    assert!(homes[1].join("logs/agents/REF01.log.jsonl").exists());
}
