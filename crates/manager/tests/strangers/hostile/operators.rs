//! Clients that are not the operator.

use league_manager::ManagerSettings;
use league_protocol::token::Credential;
use league_test_agents::post::post;
use serde_json::json;

use super::caller::{Caller, admitted, code};
use crate::league::League;

const ORDERS: [&str; 5] = ["create_schedule", "start_league", "stop_league", "reopen_registration", "withdraw_player"];
/// The answers to the real operator: too early, already open, and no such id.
const OBEYED: [&str; 6] = ["E010", "E010", "E010", "", "E005", ""];

async fn refusals(caller: &Caller, token: Option<&str>) -> Vec<String> {
    let mut codes = Vec::new();
    for order in ORDERS {
        codes.push(code(&caller.call(order, "operator:x", token, json!({"player_id": "P09"})).await));
    }
    codes.push(code(&caller.call("get_league", "operator:x", token, json!({"view": "agents"})).await));
    codes
}

#[tokio::test]
async fn another_machine_operates_nothing() {
    let league = League::of(2, 1, ManagerSettings::default()).await;
    let far = league.caller_from("203.0.113.9").await;
    assert_eq!(refusals(&far, None).await, ["E012"; 6]);
    assert_eq!(refusals(&far, Some("guess")).await, ["E012"; 6]);
    let near = league.caller();
    assert_eq!(refusals(&near, None).await, OBEYED);
}

#[tokio::test]
async fn an_operator_token_is_required_from_every_address() {
    let operator = Some(Credential::new("the operator's own").digest());
    let league = League::of(2, 1, ManagerSettings { operator, ..ManagerSettings::default() }).await;
    let (near, far) = (league.caller(), league.caller_from("203.0.113.9").await);
    let (_, token) = admitted(&near.register("player", "Alpha", "http://127.0.0.1:1/mcp", None).await);
    for caller in [&near, &far] {
        assert_eq!(refusals(caller, None).await, ["E011"; 6]);
        for wrong in ["guess", &token] {
            assert_eq!(refusals(caller, Some(wrong)).await, ["E012"; 6]);
        }
        assert_eq!(refusals(caller, Some("the operator's own")).await, OBEYED);
    }
}

#[tokio::test]
async fn a_page_in_a_browser_operates_nothing() {
    let league = League::of(2, 1, ManagerSettings::default()).await;
    let order = json!({"jsonrpc": "2.0", "method": "start_league", "params": {}, "id": 1});
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1.evil.example"),
        ("host", "a second one"),
    ] {
        let answer = post(&league.url, &[(name, value)], &order).await.unwrap();
        let status = if name == "host" { 400 } else { 403 };
        assert_eq!(answer.status, status, "{name}: {value}: {answer:?}");
    }
}
