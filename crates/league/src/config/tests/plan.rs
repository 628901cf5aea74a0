use std::fs;
use std::path::PathBuf;

use super::super::plan::{Plan, Start};

const S1: &str = r#"{
  "league_manager": "http://localhost:8000/mcp",
  "referee": "http://localhost:8001/mcp",
  "players": [
    {"id": "P01", "endpoint": "http://localhost:8101/mcp"},
    {"id": "P02", "endpoint": "http://localhost:8102/mcp"}
  ]
}"#;

fn read(text: &str) -> (Result<Plan, String>, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("league.json");
    fs::write(&path, text).unwrap();
    let file = path.display().to_string();
    let plain = |text: String| text.replace(&format!("{file}: "), "").replace(&format!("{file} "), "");
    match Plan::read(&path) {
        Ok((plan, warnings)) => (Ok(plan), warnings.into_iter().map(plain).collect()),
        Err(error) => (Err(plain(error.to_string())), Vec::new()),
    }
}

#[test]
fn the_file_of_s1_contacts_every_agent() {
    let (plan, warnings) = read(S1);
    let plan = plan.unwrap();
    assert!(plan.agents().all(|agent| agent.start == Start::Contact));
    let labels: Vec<&str> = plan.agents().map(|agent| agent.label.as_str()).collect();
    assert_eq!((labels, warnings.len()), (vec!["league_manager", "referee_1", "P01", "P02"], 0));
}

#[test]
fn an_agent_is_started_by_a_strategy_or_a_command() {
    let text = S1
        .replace(r#"8101/mcp""#, r#"8101/mcp", "strategy": "markov", "name": "Ada""#)
        .replace(r#"8102/mcp""#, r#"8102/mcp", "command": ["python3", "player.py"], "directory": "kit""#);
    let plan = read(&text).0.unwrap();
    assert_eq!(plan.players[0].start, Start::Ours(Some("markov".into())));
    assert_eq!(plan.players[0].name.as_deref(), Some("Ada"));
    let Start::Command { words, directory } = &plan.players[1].start else { panic!("{:?}", plan.players[1]) };
    assert_eq!((words.join(" "), directory.ends_with(PathBuf::from("kit"))), (String::from("python3 player.py"), true));
}

#[test]
fn an_error_in_the_file_names_its_key_the_wrong_value_and_what_is_expected() {
    for (from, to, error) in [
        ("\"league_manager\": \"http", "\"manager\": \"http", "league_manager is missing; this key is required"),
        (
            "http://localhost:8001/mcp",
            "8001",
            "referee.endpoint is \"8001\"; an endpoint begins with http:// or https://",
        ),
        (
            "\"referee\": \"http://localhost:8001/mcp\",",
            "",
            "referee is missing; expected an address such as http://127.0.0.1:8001/mcp",
        ),
        (
            "http://localhost:8102/mcp",
            "localhost",
            "players[1].endpoint is \"localhost\"; an endpoint begins with http:// or https://",
        ),
        ("8102", "8101", "gives two agents the endpoint \"http://localhost:8101/mcp\""),
        ("P02", "P01", "gives two agents the id \"P01\""),
        ("\"id\": \"P02\"", "\"id\": 2", "players[1].id is 2; expected a string"),
        ("\"id\": \"P02\"", "\"start\": \"yes\"", "players[1].start is \"yes\"; expected a boolean"),
        ("\"id\": \"P02\"", "\"command\": \"python\"", "players[1].command is \"python\"; expected a sequence"),
        ("\"id\": \"P02\"", "\"command\": []", "players[1].command is []; expected a program and its arguments"),
    ] {
        assert_eq!(read(&S1.replacen(from, to, 1)).0.unwrap_err(), error);
    }
    let alone = S1.replace(",\n    {\"id\": \"P02\", \"endpoint\": \"http://localhost:8102/mcp\"}", "");
    assert!(read(&alone).0.unwrap_err().ends_with("; expected two players or more"));
    let (plan, warnings) = read(&S1.replacen("\"id\": \"P02\"", "\"stategy\": \"random\"", 1));
    assert!(plan.is_ok());
    assert_eq!(warnings, ["players[].stategy is not known and has no effect; did you mean strategy?"]);
}
