//! Whole matches with players of other implementations, from the order to the report.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod posted;
mod pulling;
mod reported;
mod signed;
mod starved;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::frame::Frame;
use league_protocol::message::start_match::StartMatch;
use league_protocol::quirk::Quirks;
use league_protocol::table::{Call, MethodSpelling, RefereeCall};
use league_referee::{Referee, RefereeSettings};
use league_test_agents::http_server::{HttpReply, HttpServer};
use league_wire::agent::{Agent, IncomingCall};
use league_wire::client::Client;
use league_wire::environment::Environment;
use serde_json::{Value, json};

fn result(request: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
}

fn error(request: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}})
}

fn answer(message: &Value, id: &str) -> Value {
    let envelope = |called: &str, own: Value| {
        let mut message = json!({
            "protocol": "league.v2", "message_type": called, "sender": format!("player:{id}"), "player_id": id,
            "timestamp": "2025-01-15T10:30:00Z", "conversation_id": message["conversation_id"],
            "auth_token": "tok", "match_id": message["match_id"],
        });
        message.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        message
    };
    match message["message_type"].as_str().unwrap() {
        "GAME_INVITATION" => envelope("GAME_JOIN_ACK", json!({"accept": true})),
        "CHOOSE_PARITY_CALL" => envelope("CHOOSE_PARITY_RESPONSE", json!({"parity_choice": "even"})),
        "GAME_MOVE_CALL" => envelope("GAME_MOVE_RESPONSE", json!({"move": message["context"]["legal_moves"][0]})),
        "GAME_OVER" => envelope("GAME_OVER_ACK", json!({"status": "ok"})),
        _ => envelope("GAME_ERROR_ACK", json!({"status": "ok"})),
    }
}

async fn stub(answer: impl Fn(&Value) -> Value + Send + Sync + 'static) -> HttpServer {
    HttpServer::stub(move |request| HttpReply::json(200, &answer(&request.json()))).unwrap()
}

async fn canonical(id: &'static str) -> HttpServer {
    stub(move |request| result(request, &answer(&request["params"], id))).await
}

fn incoming(call: Call) -> IncomingCall<RefereeCall> {
    let peer = "127.0.0.1:1".parse().unwrap();
    let (head, quirks, method) = (ReceivedEnvelope::default(), Quirks::default(), call.method());
    let (call, frame, spelling) = (call.try_into().unwrap(), Frame::Direct, MethodSpelling::Name);
    IncomingCall { call, method, head, quirks, frame, spelling, one_name: None, peer }
}

async fn play(a: &HttpServer, b: &HttpServer, extra: Value) -> Value {
    play_with(Arc::default(), a, b, extra).await
}

/// Also stores the referee where a player can find it.
async fn play_with(place: Arc<OnceLock<Referee>>, a: &HttpServer, b: &HttpServer, extra: Value) -> Value {
    let manager = manager().await;
    let settings = settings(&manager);
    let referee = place.get_or_init(|| Referee::new(settings, Client::default(), None, Environment::real())).clone();
    referee.register().await.unwrap();
    let order = order([&a.endpoint(), &b.endpoint()], &extra);
    referee.call(incoming(Call::StartMatch(order))).await.unwrap();
    while referee.running() > 0 {
        tokio::task::yield_now().await;
    }
    manager.calls("report_match_result").remove(0)["params"].clone()
}

async fn manager() -> HttpServer {
    stub(|request| match request["method"].as_str().unwrap() {
        "register_referee" => result(request, &json!({"status": "ACCEPTED", "referee_id": "REF01"})),
        _ => result(request, &json!({"status": "ACCEPTED"})),
    })
    .await
}

fn settings(manager: &HttpServer) -> RefereeSettings {
    RefereeSettings::new("Referee", manager.endpoint().parse().unwrap(), "http://127.0.0.1:9/mcp".parse().unwrap())
}

fn order([a, b]: [&str; 2], extra: &Value) -> StartMatch {
    let mut order = json!({
        "match_id": "R1M1",
        "players": [{"player_id": "P01", "endpoint": a}, {"player_id": "P02", "endpoint": b}],
        "timeouts": {"game_join_ack_timeout_sec": 8.0, "move_timeout_sec": 8.0, "game_over_timeout_sec": 8.0},
    });
    order.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    serde_json::from_value(order).unwrap()
}

fn forfeits(report: &Value) -> usize {
    report["result"]["details"]["technical_losses"].as_array().map_or(0, Vec::len)
}

#[tokio::test]
async fn nothing_is_told_about_players_that_do_as_expected() {
    let (a, b) = (canonical("P01").await, canonical("P02").await);
    let report = play(&a, &b, json!({})).await;
    assert_eq!((forfeits(&report), report.get("learned")), (0, None));
    assert_eq!((a.calls("handle_game_invitation").len(), a.calls("choose_parity").len()), (1, 1));
}

#[tokio::test]
async fn another_name_costs_one_call_and_the_manager_is_told_of_it() {
    let a = stub(|request| match request["method"].as_str().unwrap() {
        "choose_parity" => error(request, -32601, "Method not found: choose_parity"),
        _ => result(request, &answer(&request["params"], "P01")),
    })
    .await;
    let report = play(&a, &canonical("P02").await, json!({})).await;
    assert_eq!(forfeits(&report), 0);
    assert_eq!((a.calls("choose_parity").len(), a.calls("parity_choose").len()), (1, 1));
    let dialect = &report["learned"]["P01"]["manner"];
    assert_eq!(*dialect, json!({"frame": "A", "methods": {"choose_parity": {"name": "parity_choose"}}}));
    let b = canonical("P02").await;
    let known = json!({"players": [
        {"player_id": "P01", "endpoint": a.endpoint(), "manner": dialect},
        {"player_id": "P02", "endpoint": b.endpoint()},
    ]});
    let again = play(&a, &b, known).await;
    assert_eq!((forfeits(&again), again.get("learned")), (0, None));
    assert_eq!(a.calls("choose_parity").len(), 1, "what was learned is used");
}

#[tokio::test]
async fn an_answer_that_is_posted_after_an_acknowledgement_counts_and_does_not_hold_up_the_match() {
    let referee: Arc<OnceLock<Referee>> = Arc::default();
    let place = Arc::clone(&referee);
    let a = stub(move |request| {
        let message = answer(&request["params"], "P01");
        let call = match message["message_type"].as_str().unwrap() {
            "GAME_JOIN_ACK" => Call::PostJoin(serde_json::from_value(message).unwrap()),
            "CHOOSE_PARITY_RESPONSE" => Call::PostChoice(serde_json::from_value(message).unwrap()),
            _ => return result(request, &message),
        };
        let referee = place.get().unwrap().clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            referee.call(incoming(call)).await.unwrap();
        });
        result(request, &json!({"status": "received"}))
    })
    .await;
    let began = std::time::Instant::now();
    let report = play_with(referee, &a, &canonical("P02").await, json!({})).await;
    assert_eq!(forfeits(&report), 0);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!((a.calls("handle_game_invitation").len(), a.calls("choose_parity").len()), (1, 1));
    let learned = &report["learned"]["P01"];
    assert_eq!(learned["manner"], json!({"frame": "A", "posts": true}));
    assert!(learned["quirks"].as_array().unwrap().contains(&json!("posts_answers")));
}

#[tokio::test]
async fn oddities_are_quirks_in_a_league_and_errors_in_a_strict_one() {
    let odd = || {
        stub(|request| {
            let mut message = answer(&request["params"], "P01");
            message.as_object_mut().unwrap().remove("timestamp");
            result(request, &message)
        })
    };
    let (a, b) = (odd().await, canonical("P02").await);
    let report = play(&a, &b, json!({})).await;
    assert_eq!(forfeits(&report), 0);
    assert_eq!(report["learned"]["P01"]["quirks"], json!(["no_timestamp"]));
    let (a, b) = (odd().await, canonical("P02").await);
    let report = play(&a, &b, json!({"strict": true})).await;
    assert_eq!(report["result"]["details"]["technical_losses"], json!(["P01"]));
    let told = &a.calls("notify_game_error")[0]["params"];
    assert_eq!(told["error_code"], "E003");
    assert!(told["hint"].as_str().unwrap().contains("a strict league refuses: no timestamp"), "{told}");
}
