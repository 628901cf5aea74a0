//! `league run --config FILE`: agents that are started, agents that are contacted, and agents that die.

use std::fs;
use std::net::TcpStream;
use std::process::Command;

use league_test_agents::http_server::{HttpReply, HttpRequest, HttpServer};
use serde_json::{Value, json};

use crate::support::home::LEAGUE;
use crate::support::{Process, TestHome, assert_contains, assert_played, http, ports, read_json_lines, wait_for_all};

fn foreign_player() -> HttpServer {
    let answer = |request: &HttpRequest| {
        let request = request.json();
        let params = &request["params"];
        let result = match request["method"].as_str().unwrap_or_default() {
            "handle_game_invitation" => json!({
                "message_type": "GAME_JOIN_ACK", "match_id": params["match_id"], "player_id": params["player_id"],
                "accept": true, "arrival_timestamp": params["timestamp"],
            }),
            "choose_parity" => json!({
                "message_type": "CHOOSE_PARITY_RESPONSE", "match_id": params["match_id"],
                "player_id": params["player_id"], "parity_choice": "odd",
            }),
            _ => json!({"status": "ok"}),
        };
        HttpReply::result(&request, &result)
    };
    HttpServer::stub(answer).unwrap()
}

/// Starts `league run` with this plan.
fn start(home: &TestHome, plan: &Value, more: &[&str]) -> Process {
    home.write("league.json", plan);
    let path = home.join("league.json");
    home.start(&[&["run", "--config", path.to_str().unwrap()], more].concat())
}

fn events(home: &TestHome) -> Vec<(String, String)> {
    let lines = read_json_lines(&home.join("logs/system/orchestrator.log.jsonl")).into_iter();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    lines.map(|line| (word(&line["event_type"]), word(&line["data"]["id"]))).collect()
}

fn is_free(endpoint: &str) -> bool {
    TcpStream::connect(http::authority(endpoint).0).is_err()
}

#[test]
#[cfg_attr(windows, ignore = "ends processes by a signal")]
fn agents_are_started_contacted_and_restarted_and_the_league_is_played() {
    let (home, foreign) = (TestHome::new(), foreign_player());
    let (port, [manager, referee, first]) = (ports::free(), [(); 3].map(|()| ports::free_endpoint()));
    let (second, port) = (ports::endpoint(port), port.to_string());
    let program =
        [env!("CARGO_BIN_EXE_league"), "player", "--port", &port, "--player-id", "P02", "--home", home.path()];
    let plan = json!({
        "league_manager": {"endpoint": manager, "start": true},
        "referee": {"id": "REF01", "endpoint": referee, "start": true},
        "players": [
            {"id": "P01", "name": "Ada", "endpoint": first, "strategy": "alternate"},
            {"id": "P02", "endpoint": second, "command": program},
            {"id": "P03", "name": "Foreign", "endpoint": foreign.endpoint()},
        ],
    });
    let mut run = start(&home, &plan, &["--json"]);
    let line = run.wait_for_line("P01 runs as process ");
    let pid = line.split_whitespace().nth(4).unwrap().to_owned();
    run.wait_for_line("P01 | P01 plays alternate");
    assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
    assert_contains(&run.wait_for_line("P01 died (signal: 9"), &["it is started again (1 of 5)"]);
    run.wait_for_line("P01 runs as process ");
    let exit = run.wait().success();
    assert_played(&exit.json(), 2);
    assert_contains(&exit.stderr, &["league show --home"]);
    home.verify(3);
    assert_eq!(home.row("P01")["display_name"], "Ada");
    assert_eq!(home.row("P03")["display_name"], "Foreign");
    assert_eq!(home.forfeits(), 0);

    let log = events(&home);
    for (event, agent) in [
        ("AGENT_STARTED", "league_manager"),
        ("AGENT_STARTED", "REF01"),
        ("AGENT_STARTED", "P02"),
        ("AGENT_DIED", "P01"),
        ("AGENT_RESTARTED", "P01"),
        ("AGENT_REGISTERED", "P03"),
        ("LEAGUE_COMPLETED", ""),
    ] {
        assert!(log.contains(&(event.to_owned(), agent.to_owned())), "{event} {agent}: {log:?}");
    }
    assert!(!log.iter().any(|(event, agent)| event == "AGENT_STARTED" && agent == "P03"), "{log:?}");
    assert!([&manager, &referee, &first, &second].into_iter().all(|endpoint| is_free(endpoint)), "they ended with it");
    assert!(!is_free(&foreign.endpoint()), "it is left running");
}

/// The file of S1 7.1.2: every agent already runs.
#[test]
fn running_agents_are_brought_together_and_left_running() {
    let home = TestHome::new();
    let mut manager = home.start(&["manager", "--port", "0", "--registration-window", "600"]);
    let address = manager.address();
    let agents =
        [["referee", "--referee-id", "REF01"], ["player", "--player-id", "P01"], ["player", "--player-id", "P02"]];
    let [(referee, referee_at), (first, first_at), (second, second_at)] = agents.map(|agent| {
        let port = ports::free();
        let place = ["--port", &port.to_string(), "--manager", &address];
        (home.start(&[&agent[..], &place].concat()), ports::endpoint(port))
    });
    let plan = json!({
        "league_manager": address,
        "referee": referee_at,
        "players": [{"id": "P01", "endpoint": first_at}, {"id": "P02", "endpoint": second_at}],
    });
    let own = TestHome::new();
    assert_contains(&start(&own, &plan, &[]).wait().success().stdout, &["Player P01", "Player P02"]);
    let events: Vec<String> = events(&own).into_iter().map(|(event, _)| event).collect();
    assert_eq!(events, ["AGENTS_READY", "LEAGUE_STARTED", "LEAGUE_COMPLETED"]);
    manager.wait_for_end_of_league();
    assert!(!is_free(&address), "it is left running");
    wait_for_all([referee, first, second]);
    assert_eq!(home.json("status")["league_id"], LEAGUE);
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn an_agent_that_dies_too_often_is_given_up() {
    let home = TestHome::new();
    let ours = || json!({"endpoint": ports::free_endpoint(), "start": true});
    let plan = json!({
        "league_manager": ours(),
        "referee": {"endpoint": ports::free_endpoint(), "command": ["sh", "-c", "echo no such referee >&2; exit 3"]},
        "players": [ours(), ours()],
        "max_restarts": 1,
    });
    start(&home, &plan, &[]).wait().fails_with(&[
        "referee_1 died (exit status: 3: no such referee); it is started again (1 of 1)",
        "referee_1 is given up after 1 restart: exit status: 3: no such referee",
        "league: referee_1 cannot be started: exit status: 3: no such referee",
    ]);
    assert_eq!(events(&home).pop().unwrap().0, "LEAGUE_FAILED");
}

#[test]
fn missing_refused_and_unexpected_agents_are_reported() {
    let (home, foreign) = (TestHome::new(), foreign_player());
    let missing = ports::free_endpoint();
    let ours = || json!({"endpoint": ports::free_endpoint(), "start": true});
    let mut plan = json!({
        "league_manager": ours(),
        "referee": ours(),
        "players": [{"id": "P01", "endpoint": missing}, {"id": "P02", "endpoint": foreign.endpoint()}],
        "wait_sec": 2,
    });
    let no_answer = format!("no answer within 2s from P01 at {missing}; start them, or give them");
    start(&home, &plan, &[]).wait().fails_with(&[&no_answer]);
    plan["players"][1]["strategy"] = json!("random");
    let occupied = format!("P02 cannot be started: an agent answers at {} already", foreign.endpoint());
    start(&home, &plan, &[]).wait().fails_with(&[&occupied]);

    // An agent of this program that gives a reason is not started again.
    let home = TestHome::new();
    plan["wait_sec"] = json!(60);
    home.write("config/agents/agents_config.json", &json!({"players": [{"player_id": "P02", "active": false}]}));
    plan["players"] = json!([ours(), ours()]);
    plan["players"][1]["id"] = json!("P02");
    let error = start(&home, &plan, &[]).wait().fails_with(&[
        "P02 is given up after 0 restarts",
        "P02 cannot be started: exit status: 1: league: config/agents/agents_config.json says",
    ]);
    assert!(!error.contains("started again"), "{error}");
}

/// The file and the command of docs/orchestrator.md, with free ports.
#[test]
fn the_file_of_the_guide_plays_a_league() {
    const GUIDE: &str = include_str!("../../../../docs/orchestrator.md");
    let block = |language: &str| {
        let rest = GUIDE.split_once(&format!("```{language}\n")).unwrap().1;
        rest.split_once("\n```").unwrap().0.to_owned()
    };
    let mut file = block("json");
    for port in ["8000", "8001", "8101", "8102"] {
        file = file.replace(port, &ports::free().to_string());
    }
    let home = TestHome::new();
    fs::write(home.join("league.json"), file).unwrap();
    let command = block("console");
    let words: Vec<&str> = command.strip_prefix("league ").unwrap().split(' ').collect();
    let exit = Process::start_in(home.path(), &[], &words).wait().success();
    assert_contains(&exit.stdout, &["Player P01", "Player P02"]);
}
