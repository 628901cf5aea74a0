//! A client that calls too often is told when to come back, and other clients are not affected.

use league_manager::{ManagerSettings, RateSettings};
use league_test_agents::post::post;
use league_wire::rate::Rate;
use serde_json::{Value, json};

use super::caller::{Caller, admitted, must_wait};
use crate::league::{League, forfeits};

fn limited(rates: RateSettings) -> ManagerSettings {
    ManagerSettings { rates, ..ManagerSettings::default() }
}

#[tokio::test]
async fn a_flood_of_registrations_is_held_up_and_the_league_is_played() {
    let rates = RateSettings { registrations: Rate::new(1, 20), ..RateSettings::default() };
    let league = League::of(2, 1, limited(rates)).await.with_referee().await;
    let flood = league.caller_from("203.0.113.9").await;
    let register = |number: u32| {
        let flood = flood.clone();
        async move { flood.register("player", &format!("Flood {number}"), "http://10.0.0.1:1/mcp", None).await }
    };
    let answers = futures_util::future::join_all((0..200).map(register)).await;
    let held_up = answers.iter().filter(|answer| must_wait(answer)).count();
    let rejected = answers.iter().filter(|answer| answer.json()["result"]["status"] == "REJECTED").count();
    assert_eq!(held_up + rejected, 200);
    assert!((20..=40).contains(&rejected), "{rejected}");
    let _players = league.join(&["One", "Two"]).await;
    let season = league.play().await;
    assert_eq!((season.players().len(), season.matches_completed(), forfeits(&season)), (2, 1, 0));
}

#[tokio::test]
async fn agents_of_ours_wait_until_they_are_let_in() {
    let rates = RateSettings { registrations_here: Rate::new(2, 1), ..RateSettings::default() };
    let league = League::of(2, 2, limited(rates)).await.with_referee().await.with_referee().await;
    assert_eq!(league.season().await.referees().len(), 2);
}

#[tokio::test]
async fn an_agent_that_asks_too_often_has_to_wait_and_others_do_not() {
    let rates = RateSettings { questions: Rate::new(1, 3), ..RateSettings::default() };
    let league = League::of(2, 1, limited(rates)).await;
    let caller = league.caller();
    let (_, often) = admitted(&caller.register("player", "Often", "http://127.0.0.1:1/mcp", None).await);
    let (_, once) = admitted(&caller.register("player", "Once", "http://127.0.0.1:2/mcp", None).await);
    for _ in 0..3 {
        assert_eq!(caller.status(&often).await.status, 200);
    }
    assert!(must_wait(&caller.status(&often).await));
    assert_eq!(caller.status(&once).await.status, 200);
}

#[tokio::test]
async fn strangers_are_counted_by_address_unless_they_are_on_this_machine() {
    let rates = RateSettings { strangers: Rate::new(1, 3), ..RateSettings::default() };
    let league = League::of(2, 1, limited(rates)).await;
    let (far, near) = (league.caller_from("203.0.113.9").await, league.caller());
    let ask_standings = async |caller: &Caller| caller.call("get_standings", "player:x", None, json!({})).await;
    for _ in 0..3 {
        assert_eq!(ask_standings(&far).await.status, 200);
    }
    assert!(must_wait(&ask_standings(&far).await));
    for _ in 0..20 {
        assert_eq!(ask_standings(&near).await.status, 200);
    }
}

#[tokio::test]
async fn a_tool_that_is_called_too_often_says_so_as_tools_do() {
    let rates = RateSettings { registrations_here: Rate::new(1, 1), ..RateSettings::default() };
    let league = League::of(2, 1, limited(rates)).await;
    let arguments = json!({"player_meta": {
        "display_name": "Tool", "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": "http://127.0.0.1:1/mcp",
    }});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "register_player", "arguments": arguments}});
    post(&league.url, &[], &call).await.unwrap();
    let second = post(&league.url, &[], &call).await.unwrap();
    let body = second.json();
    assert_eq!((second.status, &body["result"]["isError"]), (200, &json!(true)), "{body}");
    let text: Value = serde_json::from_str(body["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&text["error_code"], &text["retry_after"]), (&json!("E014"), &json!(1)), "{body}");
}

#[tokio::test]
async fn the_usual_rates_do_not_touch_a_league_at_full_speed() {
    let league = League::of(24, 1, ManagerSettings::default()).await.with_referee().await;
    let names: Vec<String> = (0..24).map(|number| format!("Player {number}")).collect();
    let _players = league.join(&names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let season = league.play().await;
    assert_eq!((season.matches_completed(), forfeits(&season)), (24 * 23 / 2, 0));
}
