//! Operator calls need the operator, at the manager and at referees, and are recorded.

use std::fs;

use league_test_agents::http_server::{HttpReply, HttpServer};
use serde_json::{Value, json};

use crate::support::{Venue, http, league};

const TOKEN: &str = "chalk-on-the-blackboard";
const KEY: &str = "sesame-sesame-open";

fn code(answer: &Value) -> &str {
    answer["error"]["data"]["error_code"].as_str().unwrap_or_default()
}

#[test]
fn a_referee_obeys_only_the_operator_where_the_league_has_an_operator_token() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &["--stepped", "--operator-token", TOKEN, "--referee-key", KEY]);
    manager.address();
    let mut referee = venue.agent(&["referee", "--referee-id", "REF01", "--join-key", KEY]);
    referee.wait_for_line("is ready");
    let endpoint = venue.home.json("agents")[0]["endpoint"].as_str().unwrap().to_owned();
    let _players = ["P01", "P02"].map(|id| venue.player(id, "random"));
    let first = json!({"match_id": "R1M1"});
    let awaits =
        |step: &str| http::until(&endpoint, "get_match_state", &first, |state| state["result"]["waiting_for"] == step);
    awaits("collect_choices");
    for step in ["collect_choices", "draw_number", "finalize_match"] {
        let told = http::call(&endpoint, step, &first);
        assert_eq!(code(&told), "E012", "{told}");
    }
    let evil = HttpServer::stub(|request| HttpReply::result(&request.json(), &json!({}))).unwrap();
    let told = http::call(&endpoint, "register_to_league", &json!({"manager_endpoint": evil.endpoint()}));
    assert_eq!(code(&told), "E012", "{told}");
    // The manager steps for the operator, with its pass.
    let operate = venue.address.replace("/mcp", "/operate");
    for step in ["collect_choices", "draw_number", "finalize_match"] {
        awaits(step);
        let (status, page) = http::page(&operate, Some(&format!("action={step}&match=R1M1&token={TOKEN}")));
        assert!(status < 400, "{page}");
    }
    manager.wait_for_end_of_league();
}

#[test]
fn a_referee_sends_its_key_only_to_the_manager_named_at_its_start() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &["--referee-key", KEY]);
    manager.address();
    let mut referee = venue.agent(&["referee", "--referee-id", "REF01", "--join-key", KEY]);
    referee.wait_for_line("is ready");
    let endpoint = venue.home.json("agents")[0]["endpoint"].as_str().unwrap().to_owned();
    let (note, heard) = std::sync::mpsc::channel();
    let note = std::sync::Mutex::new(note);
    let evil = HttpServer::stub(move |request| {
        let request = request.json();
        drop(note.lock().unwrap().send(request.to_string()));
        HttpReply::result(&request, &json!({"status": "REJECTED", "reason": "no"}))
    });
    let evil = evil.unwrap();
    // Without an operator's token every client on this machine is the operator. It still does not get the key.
    http::call(&endpoint, "register_to_league", &json!({"manager_endpoint": evil.endpoint()}));
    let sent: Vec<String> = heard.try_iter().collect();
    assert!(!sent.is_empty() && sent.iter().all(|request| !request.contains(KEY)), "{sent:?}");
}

#[test]
fn a_page_of_another_port_does_not_operate_the_league() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(3, 1, &[]);
    let address = manager.address();
    let mut referee = venue.referee("REF01");
    referee.wait_for_line("is ready");
    let mut player = venue.player("P01", "random");
    player.wait_for_line("P01 plays");
    let endpoint = venue.home.json("agents")[0]["endpoint"].as_str().unwrap().to_owned();
    let json = "Content-Type: application/json\r\n";
    let foreign = [
        format!("{json}Origin: http://localhost:8101\r\n"),
        format!("{json}Sec-Fetch-Site: cross-site\r\n"),
        format!("{json}Sec-Fetch-Site: same-site\r\n"),
        String::from("Content-Type: text/plain\r\n"),
        String::new(),
    ];
    let out = json!({"player_id": "P01"});
    for headers in &foreign {
        let told = http::call_with(&address, headers, "withdraw_player", &out);
        assert!(["E012", "E002"].contains(&code(&told)), "{headers}: {told}");
        let told = http::call_with(&endpoint, headers, "register_to_league", &json!({}));
        assert!(["E012", "E002"].contains(&code(&told)), "{headers}: {told}");
    }
    let own = address.strip_suffix("/mcp").unwrap();
    let told = http::call_with(&address, &format!("{json}Origin: {own}\r\n"), "withdraw_player", &out);
    assert_eq!(told["error"], Value::Null, "{told}");
    player.wait().success();
}

#[test]
fn what_the_operator_does_is_in_the_log() {
    for (token, origin) in [(&[][..], "on the manager's machine"), (&[TOKEN][..], "with the token")] {
        let venue = Venue::new();
        let flag: Vec<&str> = token.iter().flat_map(|token| ["--operator-token", *token]).collect();
        let mut manager = venue.manager_with(3, 1, &flag);
        let address = manager.address();
        let mut player = venue.player("P01", "random");
        player.wait_for_line("P01 plays");
        let shown: Vec<&str> = token.iter().flat_map(|token| ["--token", *token]).collect();
        for command in [&["withdraw", "P01"][..], &["keys", "rotate", "--role", "player"]] {
            league(&[command, &["--manager", &address], &shown].concat()).success();
        }
        manager.signal("TERM");
        manager.wait();
        let logs = venue.home.files().into_iter().filter(|path| path.ends_with("league.log.jsonl"));
        let log: String = logs.map(|path| fs::read_to_string(path).unwrap()).collect();
        for action in ["withdraw_player P01", "rotate_key player"] {
            assert!(log.contains(&format!("The operator's call {action}, {origin}")), "{log}");
        }
    }
}
