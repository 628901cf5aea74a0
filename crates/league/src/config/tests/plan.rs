//! The file of `league run --config`.

use std::fs;
use std::path::PathBuf;

use super::super::plan::{Plan, Start};

/// The file of S1 7.1.2.
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
    let place = format!("{}: ", path.display());
    match Plan::read(&path) {
        Ok((plan, warnings)) => {
            (Ok(plan), warnings.iter().map(|warning| warning.to_string().replace(&place, "")).collect())
        }
        Err(error) => (Err(error.to_string().replace(&place, "")), Vec::new()),
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
fn a_wrong_file_is_told_with_its_key_what_came_and_what_is_allowed() {
    let address = "allowed are addresses such as http://127.0.0.1:8101/mcp";
    for (from, to, told) in [
        ("\"league_manager\": \"http", "\"manager\": \"http", format!("league_manager is missing; {address}")),
        ("http://localhost:8001/mcp", "8001", format!("referee is \"8001\"; {address}")),
        ("\"referee\": \"http://localhost:8001/mcp\",", "", format!("referee is missing; {address}")),
        ("http://localhost:8102/mcp", "localhost", format!("players[1].endpoint is \"localhost\"; {address}")),
        (
            "8102",
            "8101",
            String::from(
                "endpoint is \"http://localhost:8101/mcp\" twice; allowed is an address at which no other agent listens",
            ),
        ),
        ("P02", "P01", String::from("id is \"P01\" twice; allowed is an id for one agent only")),
        (
            "\"id\": \"P02\"",
            "\"id\": 2",
            String::from(
                "players[1].id is 2; allowed are 1 to 64 letters, digits and `_ - : .`, not beginning with a dot",
            ),
        ),
        (
            "\"id\": \"P02\"",
            "\"start\": \"yes\"",
            String::from("players[1].start is \"yes\"; allowed are true and false"),
        ),
        (
            "\"id\": \"P02\"",
            "\"command\": \"python\"",
            String::from("players[1].command is \"python\"; allowed is a list"),
        ),
        (
            "\"id\": \"P02\"",
            "\"command\": []",
            String::from("players[1].command is []; allowed is a program and its arguments"),
        ),
    ] {
        assert_eq!(read(&S1.replacen(from, to, 1)).0.unwrap_err(), told);
    }
    let alone = S1.replace(",\n    {\"id\": \"P02\", \"endpoint\": \"http://localhost:8102/mcp\"}", "");
    assert_eq!(read(&alone).0.unwrap_err(), "players is a list of 1; allowed are two players or more");
    let (plan, warnings) = read(&S1.replacen("\"id\": \"P02\"", "\"stategy\": \"random\"", 1));
    assert!(plan.is_ok());
    assert_eq!(warnings, ["players[].stategy is not known here and has no effect; did you mean strategy?"]);
}
