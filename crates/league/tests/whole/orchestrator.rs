//! `league run --config FILE`: agents that are started, agents that are contacted, and agents that die.

use std::fs;
use std::net::TcpStream;
use std::process::Command;

use league_test_agents::http_server::{HttpReply, HttpRequest, HttpServer};
use serde_json::{Value, json};

use crate::support::home::LEAGUE;
use crate::support::{Process, TestHome, league, ports};

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

fn place() -> String {
    format!("http://127.0.0.1:{}/mcp", ports::free())
}

fn written(home: &TestHome, plan: &Value) -> String {
    let path = home.join("league.json");
    fs::write(&path, plan.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn logged(home: &TestHome) -> Vec<(String, String)> {
    let text = fs::read_to_string(home.join("logs/system/orchestrator.log.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    lines.map(|line| (word(&line["event_type"]), word(&line["data"]["id"]))).collect()
}

fn is_free(endpoint: &str) -> bool {
    let host = endpoint.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp")).unwrap();
    TcpStream::connect(host).is_err()
}

#[test]
#[cfg_attr(windows, ignore = "ends processes by a signal")]
fn agents_are_started_contacted_and_started_again_and_the_league_is_played() {
    let (home, foreign) = (TestHome::new(), foreign_player());
    let (manager, referee, first, second) = (place(), place(), place(), place());
    let port = second.rsplit(':').next().unwrap().strip_suffix("/mcp").unwrap();
    let program = [env!("CARGO_BIN_EXE_league"), "player", "--port", port, "--player-id", "P02", "--home", home.path()];
    let plan = json!({
        "league_manager": {"endpoint": manager, "start": true},
        "referee": {"id": "REF01", "endpoint": referee, "start": true},
        "players": [
            {"id": "P01", "name": "Ada", "endpoint": first, "strategy": "alternate"},
            {"id": "P02", "endpoint": second, "command": program},
            {"id": "P03", "name": "Foreign", "endpoint": foreign.endpoint()},
        ],
    });
    let mut run = Process::start(&["run", "--config", &written(&home, &plan), "--home", home.path(), "--json"]);
    let line = run.says("P01 runs as process ");
    let pid = line.split_whitespace().nth(4).unwrap().to_owned();
    run.says("P01 | P01 plays alternate");
    assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
    let line = run.says("P01 died (signal: 9");
    assert!(line.contains("it is started again (1 of 5)"), "{line}");
    run.says("P01 runs as process ");
    let ended = run.ended().well();
    assert!(ended.json().as_array().unwrap().iter().all(|row| row["played"] == 2), "{}", ended.out);
    assert!(ended.talk.contains("league show --home"), "{}", ended.talk);
    home.verify(3);
    assert_eq!(home.row("P01")["display_name"], "Ada");
    assert_eq!(home.row("P03")["display_name"], "Foreign");
    assert_eq!(home.forfeits(), 0);

    let log = logged(&home);
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
fn agents_that_run_already_are_brought_together_and_left_running() {
    let home = TestHome::new();
    let manager_port = ports::free().to_string();
    let mut manager =
        Process::start(&["manager", "--port", &manager_port, "--home", home.path(), "--registration-window", "600"]);
    let address = manager.address();
    let referee_at = place();
    let port = |endpoint: &str| endpoint.rsplit(':').next().unwrap().strip_suffix("/mcp").unwrap().to_owned();
    let agent = |who: &[&str], endpoint: &str| {
        let place = ["--port", &port(endpoint), "--manager", &address, "--home", home.path()];
        Process::start(&[who, &place].concat())
    };
    let referee = agent(&["referee", "--referee-id", "REF01"], &referee_at);
    let places = [place(), place()];
    let players =
        [agent(&["player", "--player-id", "P01"], &places[0]), agent(&["player", "--player-id", "P02"], &places[1])];
    let plan = json!({
        "league_manager": address,
        "referee": referee_at,
        "players": [{"id": "P01", "endpoint": places[0]}, {"id": "P02", "endpoint": places[1]}],
    });
    let own = TestHome::new();
    let ended = league(&["run", "--config", &written(&own, &plan), "--home", own.path()]).well();
    assert!(ended.out.contains("Player P01") && ended.out.contains("Player P02"), "{}", ended.out);
    let events: Vec<String> = logged(&own).into_iter().map(|(event, _)| event).collect();
    assert_eq!(events, ["AGENTS_READY", "LEAGUE_STARTED", "LEAGUE_COMPLETED"]);
    manager.says("The league is over. Serving until Ctrl-C.");
    assert!(!is_free(&address), "it is left running");
    for agent in players {
        agent.ended().well();
    }
    referee.ended().well();
    assert_eq!(home.tells("status")["league_id"], LEAGUE);
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn an_agent_that_dies_too_often_is_given_up() {
    let home = TestHome::new();
    let plan = json!({
        "league_manager": {"endpoint": place(), "start": true},
        "referee": {"endpoint": place(), "command": ["sh", "-c", "echo no such referee >&2; exit 3"]},
        "players": [{"endpoint": place(), "start": true}, {"endpoint": place(), "start": true}],
        "max_restarts": 1,
    });
    let told = league(&["run", "--config", &written(&home, &plan), "--home", home.path()]).badly();
    assert!(told.contains("referee_1 died (exit status: 3: no such referee); it is started again (1 of 1)"), "{told}");
    assert!(told.contains("referee_1 is given up after 1 restart: exit status: 3: no such referee"), "{told}");
    assert!(told.contains("league: referee_1 cannot be started: exit status: 3: no such referee"), "{told}");
    let last = logged(&home).pop().unwrap();
    assert_eq!(last.0, "LEAGUE_FAILED");
}

#[test]
fn an_agent_of_ours_that_says_why_it_cannot_start_is_not_started_again() {
    let home = TestHome::new();
    fs::create_dir_all(home.join("config/agents")).unwrap();
    let registry = json!({"players": [{"player_id": "P02", "active": false}]});
    fs::write(home.join("config/agents/agents_config.json"), registry.to_string()).unwrap();
    let plan = json!({
        "league_manager": {"endpoint": place(), "start": true},
        "referee": {"endpoint": place(), "start": true},
        "players": [{"id": "P01", "endpoint": place(), "start": true}, {"id": "P02", "endpoint": place(), "start": true}],
    });
    let told = league(&["run", "--config", &written(&home, &plan), "--home", home.path()]).badly();
    assert!(told.contains("P02 is given up after 0 restarts") && !told.contains("started again"), "{told}");
    assert!(
        told.contains("P02 cannot be started: exit status: 1: league: config/agents/agents_config.json says"),
        "{told}"
    );
}

#[test]
fn what_is_missing_or_in_the_way_is_said() {
    let (home, foreign) = (TestHome::new(), foreign_player());
    let missing = place();
    let mut plan = json!({
        "league_manager": {"endpoint": place(), "start": true},
        "referee": {"endpoint": place(), "start": true},
        "players": [{"id": "P01", "endpoint": missing}, {"id": "P02", "endpoint": foreign.endpoint()}],
        "wait_sec": 2,
    });
    let told = league(&["run", "--config", &written(&home, &plan), "--home", home.path()]).badly();
    assert!(told.contains(&format!("no answer within 2s from P01 at {missing}; start them, or give them")), "{told}");
    plan["players"][1]["strategy"] = json!("random");
    let told = league(&["run", "--config", &written(&home, &plan), "--home", home.path()]).badly();
    assert!(
        told.contains(&format!("P02 cannot be started: an agent answers at {} already", foreign.endpoint())),
        "{told}"
    );
    let told = league(&["run", "--config", "/nowhere/league.json", "--home", home.path()]).badly();
    assert!(told.contains("/nowhere/league.json cannot be read"), "{told}");
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
    let ended = Process::start_in(home.path(), &[], &words).ended().well();
    assert!(ended.out.contains("Player P01") && ended.out.contains("Player P02"), "{}", ended.out);
}
