use league_protocol::sender::Role;
use league_protocol::table::Call;
use league_wire::exchange::Failure;
use league_wire::peer_client::{OutgoingCall, PeerClient, SendAttempt};
use league_wire::settings::ServerSettings;
use serde_json::{Value, json};

use crate::raw::{DELAYED, ask};
use crate::stub_peer::{StubAnswer, StubPeer};
use crate::support::{LONG, echo_player, endpoint, envelope, serve_echo, small};

#[tokio::test]
async fn a_batch_is_answered_as_an_array_without_its_notifications() {
    let server = echo_player().await;
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
    let notification = ask(server.address, r#"[{"jsonrpc":"2.0","method":"shutdown"}]"#).await;
    assert_eq!((notification.status, notification.body.len()), (202, 0));
}

#[tokio::test]
async fn a_batch_has_1_to_64_requests() {
    let server = echo_player().await;
    let of =
        |count: u64| json!((0..count).map(|id| json!({ "method": "ping", "id": id })).collect::<Vec<_>>()).to_string();
    assert_eq!(ask(server.address, &of(64)).await.json().as_array().unwrap().len(), 64);
    assert_eq!(ask(server.address, &of(65)).await.json()["error"]["code"], -32600);
    assert_eq!(ask(server.address, "[]").await.json()["error"]["code"], -32600);
}

#[tokio::test]
async fn the_requests_of_a_batch_run_concurrently() {
    let server = serve_echo(Role::Referee, ServerSettings::default()).await;
    let asking = tokio::spawn(async move { ask(server.address, &format!("[{DELAYED},{DELAYED},{DELAYED}]")).await });
    // All three must arrive before the first is answered.
    while server.agent.received.load(std::sync::atomic::Ordering::Relaxed) < 3 {
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
    let (server, envelope, calls) = (echo_player().await, envelope("batch"), calls());
    let call = |call| OutgoingCall { envelope: &envelope, call, body: None, limit: LONG, notice: true };
    let sent = PeerClient::default().send_batch(&endpoint(server.address), &calls.each_ref().map(call)).await;
    let attempts: Vec<SendAttempt> = sent.unwrap().unwrap();
    let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
    let answers: Vec<Value> = attempts.iter().map(|one| read(&one.result.as_ref().unwrap().body)).collect();
    assert_eq!(answers[0]["result"]["heard"], "shutdown");
    assert_eq!(answers[1]["error"]["data"]["error_code"], "E010");
    for (attempt, answer) in attempts.iter().zip(&answers) {
        assert_eq!(read(&attempt.sent)["id"], answer["id"], "each request is kept beside its answer");
    }
}

#[tokio::test]
async fn a_batch_fails_unless_the_peer_answers_every_call() {
    let (envelope, calls) = (envelope("batch"), calls());
    let call = |call| OutgoingCall { envelope: &envelope, call, body: None, limit: LONG, notice: true };
    let single = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    for answer in [single.clone(), json!([]), json!([single])] {
        let body = answer.clone();
        let stub = StubPeer::new(move |_| StubAnswer::json(200, &body)).await;
        let sent = PeerClient::default().send_batch(&stub.endpoint, &calls.each_ref().map(call)).await;
        assert!(sent.unwrap().is_none(), "{answer}");
    }
}

#[tokio::test]
async fn an_oversized_batch_is_not_sent() {
    let (server, envelope, small) = (echo_player().await, envelope("batch"), small());
    let call = OutgoingCall { envelope: &envelope, call: &small, body: None, limit: LONG, notice: true };
    let sent = PeerClient::default().send_batch(&endpoint(server.address), &[call; 65]).await;
    assert!(matches!(sent.unwrap_err().kind, Failure::Unwritable(_)));
    let text = format!("{{\"reason\":\"{}\"}}", "x".repeat(40_000));
    let long = OutgoingCall { body: Some(text.as_bytes()), ..call };
    let sent = PeerClient::default().send_batch(&endpoint(server.address), &[long; 2]).await;
    assert!(matches!(sent.unwrap_err().kind, Failure::Unwritable(_)));
}
