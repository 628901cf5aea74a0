use league_protocol::sender::Role;
use league_protocol::table::Call;
use league_wire::exchange::Failure;
use league_wire::peer_client::{OutgoingCall, PeerClient, SendAttempt};
use league_wire::settings::ServerSettings;
use serde_json::{Value, json};

use crate::raw::ask;
use crate::strangers::{Answer, Stranger};
use crate::support::{LONG, endpoint, envelope, parrot, player, small};

#[tokio::test]
async fn a_batch_is_answered_as_an_array_without_its_notifications() {
    let server = player().await;
    let batch = json!([
        { "jsonrpc": "2.0", "method": "shutdown", "params": {}, "id": 1 },
        { "jsonrpc": "2.0", "method": "shutdown", "params": {} },
        { "jsonrpc": "2.0", "method": "ping", "id": 2 },
        [],
        { "jsonrpc": "2.0", "method": "no_such_thing", "id": 3 },
        { "jsonrpc": "2.0", "method": "tools/call", "params": { "name": "shutdown", "arguments": {} }, "id": 4 },
    ]);
    let answer = ask(server.address, &batch.to_string()).await;
    let answers = answer.json();
    assert_eq!((answer.status, answers.as_array().unwrap().len()), (200, 5));
    assert_eq!((&answers[0]["id"], &answers[0]["result"]["heard"]), (&json!(1), &json!("shutdown")));
    assert_eq!(answers[1], json!({ "jsonrpc": "2.0", "id": 2, "result": {} }));
    assert_eq!(answers[2]["error"]["code"], -32600);
    assert_eq!(answers[3]["error"]["code"], -32601);
    assert_eq!(answers[4]["result"]["isError"], false);
}

#[tokio::test]
async fn a_batch_of_notifications_alone_is_answered_with_nothing() {
    let server = player().await;
    let answer = ask(server.address, r#"[{"jsonrpc":"2.0","method":"shutdown"}]"#).await;
    assert_eq!((answer.status, answer.body.len()), (202, 0));
}

#[tokio::test]
async fn a_batch_has_one_request_at_least_and_sixty_four_at_most() {
    let server = player().await;
    let of =
        |count: u64| json!((0..count).map(|id| json!({ "method": "ping", "id": id })).collect::<Vec<_>>()).to_string();
    assert_eq!(ask(server.address, &of(64)).await.json().as_array().unwrap().len(), 64);
    assert_eq!(ask(server.address, &of(65)).await.json()["error"]["code"], -32600);
    assert_eq!(ask(server.address, "[]").await.json()["error"]["code"], -32600);
}

#[tokio::test]
async fn the_requests_of_a_batch_run_together() {
    let server = parrot(Role::Referee, ServerSettings::default()).await;
    let wait = json!({ "jsonrpc": "2.0", "method": "get_match_state", "params": { "match_id": "R1M1" }, "id": 1 });
    let asking = tokio::spawn(async move { ask(server.address, &json!([wait, wait, wait]).to_string()).await });
    // All three must arrive before the first is answered.
    while server.agent.heard.load(std::sync::atomic::Ordering::Relaxed) < 3 {
        server.agent.arrived.notified().await;
    }
    (0..3).for_each(|_| server.agent.go.notify_waiters());
    assert_eq!(asking.await.unwrap().json().as_array().unwrap().len(), 3);
}

/// The test agent refuses the second call.
fn calls() -> [Call; 2] {
    [small(), Call::GetPlayerState(league_protocol::message::operate::Empty {})]
}

#[tokio::test]
async fn a_batch_is_sent_in_one_request_and_each_call_has_its_own_answer() {
    let (server, envelope, calls) = (player().await, envelope("batch"), calls());
    let call = |call| OutgoingCall { envelope: &envelope, call, body: None, limit: LONG, notice: true };
    let sent = PeerClient::default().send_batch(&endpoint(server.address), &calls.each_ref().map(call)).await;
    let attempts: Vec<SendAttempt> = sent.unwrap().unwrap();
    let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
    let answers: Vec<Value> = attempts.iter().map(|one| read(&one.came.as_ref().unwrap().body)).collect();
    assert_eq!(answers[0]["result"]["heard"], "shutdown");
    assert_eq!(answers[1]["error"]["data"]["error_code"], "E010");
    for (attempt, answer) in attempts.iter().zip(&answers) {
        assert_eq!(read(&attempt.sent)["id"], answer["id"], "each request is kept beside its answer");
    }
}

#[tokio::test]
async fn a_peer_that_does_not_answer_every_call_of_a_batch_has_failed_it() {
    let (envelope, calls) = (envelope("batch"), calls());
    let call = |call| OutgoingCall { envelope: &envelope, call, body: None, limit: LONG, notice: true };
    let wrong = [
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        json!([]),
        json!([{"jsonrpc": "2.0", "id": 1, "result": {}}]),
    ];
    for answer in wrong {
        let said = answer.clone();
        let stranger = Stranger::new(move |_| Answer::json(200, &said)).await;
        let sent = PeerClient::default().send_batch(&stranger.endpoint, &calls.each_ref().map(call)).await;
        assert!(sent.unwrap().is_none(), "{answer}");
    }
}

#[tokio::test]
async fn a_batch_that_is_longer_than_a_request_may_be_is_not_sent() {
    let (server, envelope, small) = (player().await, envelope("batch"), small());
    let call = OutgoingCall { envelope: &envelope, call: &small, body: None, limit: LONG, notice: true };
    let sent = PeerClient::default().send_batch(&endpoint(server.address), &[call; 65]).await;
    assert!(matches!(sent.unwrap_err().kind, Failure::Unwritable(_)));
    let text = format!("{{\"reason\":\"{}\"}}", "x".repeat(40_000));
    let long = OutgoingCall { body: Some(text.as_bytes()), ..call };
    let sent = PeerClient::default().send_batch(&endpoint(server.address), &[long; 2]).await;
    assert!(matches!(sent.unwrap_err().kind, Failure::Unwritable(_)));
}
