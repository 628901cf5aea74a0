//! A player without a league plays with every peer, so that its author can test it; none of it counts.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail, and so may what helps it")]

use std::net::SocketAddr;
use std::time::Duration;

use league_player::player::{Player, PlayerSettings};
use league_player::strategy::registry::strategy;
use league_player::strategy_runner::StrategyRunner;
use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::frame::Frame;
use league_protocol::quirk::Quirks;
use league_protocol::request::{self, Incoming};
use league_protocol::table::{Call, MethodSpelling};
use league_wire::agent::{Agent, CallAnswer, IncomingCall};
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use serde_json::{Value, json};

fn player(kind: &str) -> Player {
    let nobody: Endpoint = "http://127.0.0.1:9/mcp".parse().unwrap();
    let settings = PlayerSettings::new("Alpha", nobody.clone(), nobody);
    Player::new(settings, StrategyRunner::new(strategy(kind).unwrap()), Client::default(), Environment::real())
}

fn call(method: &str, params: &Value) -> Call {
    let body = json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": 1 }).to_string();
    match request::read(body.as_bytes()).unwrap() {
        Incoming::Call(request) => request.call,
        other @ (Incoming::Mcp(_) | Incoming::Batch(_)) => panic!("{other:?}"),
    }
}

async fn response_to(player: &Player, method: &str, params: Value) -> Result<Value, RequestError> {
    let call = call(method, &params);
    let incoming = IncomingCall {
        method: call.method(),
        call: call.try_into().unwrap(),
        head: ReceivedEnvelope::default(),
        quirks: Quirks::default(),
        frame: Frame::Direct,
        spelling: MethodSpelling::Name,
        one_name: None,
        peer: SocketAddr::from(([127, 0, 0, 1], 1)),
    };
    let CallAnswer { body, .. } = player.call(incoming).await?;
    Ok(serde_json::from_str(body.get()).unwrap())
}

#[tokio::test]
async fn it_joins_and_chooses_and_hears_how_it_ended() {
    let player = player("random");
    let joined = response_to(&player, "handle_game_invitation", json!({ "match_id": "R1M1" })).await.unwrap();
    assert_eq!((&joined["accept"], &joined["match_id"]), (&json!(true), &json!("R1M1")));
    let chosen = response_to(&player, "choose_parity", json!({ "match_id": "R1M1" })).await.unwrap();
    assert!(["even", "odd"].contains(&chosen["parity_choice"].as_str().unwrap()));
    let over =
        json!({ "match_id": "R1M1", "result": "WIN", "game_result": { "status": "WIN", "winner_player_id": "P00" } });
    assert!(response_to(&player, "notify_match_result", over).await.is_ok());
    let state = response_to(&player, "get_player_state", json!({})).await.unwrap();
    assert_eq!((&state["state"], &state["matches_played"]), (&json!("UNREGISTERED"), &json!(0)));
    assert_eq!(player.health().league_id, None);
}

#[tokio::test]
async fn a_game_that_its_strategy_does_not_play_is_declined_with_the_reason() {
    let invitation = |game: &str| json!({ "match_id": "R1M1", "game_type": game });
    let declined = response_to(&player("markov"), "handle_game_invitation", invitation("tic_tac_toe")).await.unwrap();
    assert_eq!(declined["accept"], false);
    assert!(declined["reason"].as_str().unwrap().contains("knows even_odd only, not tic_tac_toe"), "{declined}");
    let refused =
        response_to(&player("markov"), "make_move", json!({ "match_id": "R1M1", "game_type": "tic_tac_toe" })).await;
    assert_eq!(refused.unwrap_err().code, Some(ErrorCode::E010));
    let joined = response_to(&player("markov"), "handle_game_invitation", invitation("even_odd")).await.unwrap();
    assert_eq!((&joined["accept"], joined.get("reason")), (&json!(true), None));
}

#[tokio::test]
async fn it_moves_in_every_game_that_its_strategy_plays() {
    let player = player("tic_tac_toe");
    let invitation = json!({ "match_id": "R1M1", "game_type": "tic_tac_toe" });
    assert_eq!(response_to(&player, "handle_game_invitation", invitation).await.unwrap()["accept"], true);
    let call = |state: &str| json!({ "match_id": "R1M1", "game_type": "tic_tac_toe", "context": { "state": state } });
    let moved = response_to(&player, "make_move", call("XX.OO....")).await.unwrap();
    assert_eq!((&moved["move"], &moved["match_id"], moved.get("choice")), (&json!("3"), &json!("R1M1"), None));
    let without_a_board = response_to(&player, "make_move", call("?")).await.unwrap_err();
    assert!(without_a_board.message.contains("context.legal_moves is missing"), "{without_a_board}");
}

#[tokio::test]
async fn a_practice_match_never_shuts_the_player_down() {
    let player = player("random");
    assert!(response_to(&player, "notify_league_completed", json!({ "total_rounds": 1 })).await.is_ok());
    let refused = response_to(&player, "shutdown", json!({})).await.unwrap_err();
    assert_eq!(refused.code, Some(ErrorCode::E005));
    let done = tokio::time::timeout(Duration::from_millis(20), player.until_done()).await;
    assert!(done.is_err(), "it has left although it is in no league");
    assert!(response_to(&player, "handle_game_invitation", json!({ "match_id": "R1M2" })).await.is_ok());
}
