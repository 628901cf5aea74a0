use std::sync::atomic::Ordering;

use league_protocol::sender::Role;
use league_wire::settings::ServerSettings;
use serde_json::{Value, json};

use crate::raw::{Raw, ask};
use crate::support::{EchoAgent, echo_player, serve_agent, serve_echo};

fn message() -> Value {
    json!({
        "protocol": "league.v2", "message_type": "SHUTDOWN_COMMAND", "sender": "league_manager",
        "timestamp": "2025-01-15T10:30:00Z", "conversation_id": "talk-1",
    })
}

#[tokio::test]
async fn each_frame_is_answered_in_its_frame_and_echoes_the_conversation() {
    let server = echo_player().await;
    let (tool, nested) = (json!({ "name": "shutdown", "arguments": message() }), json!({ "message": message() }));
    let cases = [
        ("A", json!({ "jsonrpc": "2.0", "method": "shutdown", "params": message(), "id": 7 }), "/result"),
        ("B", json!({ "jsonrpc": "2.0", "method": "SHUTDOWN_COMMAND", "params": message(), "id": "x" }), "/result"),
        ("A", json!({ "jsonrpc": "2.0", "method": "whatever", "params": message(), "id": 7 }), "/result"),
        (
            "C",
            json!({ "jsonrpc": "2.0", "method": "tools/call", "id": 7, "params": tool }),
            "/result/structuredContent",
        ),
        ("D", message(), ""),
        ("E", json!({ "jsonrpc": "2.0", "method": "shutdown", "params": nested, "id": 7 }), "/result"),
    ];
    for (frame, question, place) in cases {
        let answer = ask(server.address, &question.to_string()).await;
        assert_eq!(answer.status, 200);
        assert!(answer.has_header("content-type: application/json"));
        let json = answer.json();
        let echo = json.pointer(place).unwrap();
        assert_eq!((&echo["frame"], &echo["heard"]), (&json!(frame), &json!("shutdown")));
        assert_eq!(echo["conversation_id"], "talk-1", "{frame}");
        assert_eq!(json.get("id"), question.get("id"), "{frame}");
    }
}

#[tokio::test]
async fn a_manager_reads_a_registration_as_flat_fields_and_refuses_a_wrong_one_with_status_400() {
    let manager = serve_echo(Role::Manager, ServerSettings::default()).await;
    let fields = r#"{"display_name":"Ada","version":"1.0.0","endpoint":"http://localhost:8101/mcp"}"#;
    for body in [fields, &format!(r#"{{"data":{fields}}}"#)] {
        let answer = Raw::to(manager.address).await.post("/register", "", body).await;
        assert_eq!((answer.status, &answer.json()["frame"]), (200, &json!("R")));
        assert_eq!(answer.json()["message_type"], "LEAGUE_REGISTER_RESPONSE");
    }
    for wrong in ["{}", r#"{"data":{}}"#, r#"{"data":5}"#, r#"{"display_name":"Ada"}"#, "[]", "nothing"] {
        let answer = Raw::to(manager.address).await.post("/register", "", wrong).await;
        assert_eq!((answer.status, &answer.json()["message_type"]), (400, &json!("LEAGUE_ERROR")), "{wrong}");
    }
    let player = echo_player().await;
    assert_eq!(Raw::to(player.address).await.post("/register", "", fields).await.status, 404);
}

#[tokio::test]
async fn a_refusal_of_the_agent_is_an_error_of_the_frame() {
    let server = echo_player().await;
    let direct = ask(server.address, r#"{"jsonrpc":"2.0","method":"get_player_state","params":{},"id":1}"#).await;
    assert_eq!((direct.status, &direct.json()["error"]["data"]["error_code"]), (200, &json!("E010")));
    let tool = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"get_player_state","arguments":{}},"id":1}"#;
    let tool = ask(server.address, tool).await.json();
    assert_eq!((&tool["result"]["isError"], tool.get("error")), (&json!(true), None));
}

#[tokio::test]
async fn a_body_that_is_no_request_is_refused_with_the_code_of_json_rpc() {
    let server = echo_player().await;
    let cases = [
        ("not json", 400, -32700),
        ("", 400, -32700),
        (r#"{"jsonrpc":"2.0","id":1}"#, 200, -32600),
        (r#"{"jsonrpc":"1.0","method":"shutdown","params":{},"id":1}"#, 200, -32600),
        (r#"{"jsonrpc":"2.0","method":"handle_message","params":{"message_type":"HELLO"},"id":1}"#, 200, -32601),
        (r#"{"jsonrpc":"2.0","method":"handle_message","params":{"message_type":"LEAGUE_QUERY"},"id":1}"#, 200, -32601),
        (r#"{"jsonrpc":"2.0","method":"no_such_thing","id":1}"#, 200, -32601),
        (r#"{"jsonrpc":"2.0","method":"register_player","params":{},"id":1}"#, 200, -32601),
        (r#"{"jsonrpc":"2.0","method":"start_league","params":{},"id":1}"#, 200, -32601),
        (r#"{"jsonrpc":"2.0","method":"choose_parity","params":{},"id":1}"#, 200, -32602),
        (r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"start_league"},"id":1}"#, 200, -32602),
        (r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"nothing"},"id":1}"#, 200, -32602),
    ];
    for (question, status, code) in cases {
        let answer = ask(server.address, question).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (status, &json!(code)), "{question}");
    }
    assert_eq!(server.agent.received.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_strict_agent_refuses_a_message_without_its_envelope() {
    let server =
        serve_agent(EchoAgent { strict: true, ..EchoAgent::new(Role::Player) }, ServerSettings::default()).await;
    let answer = ask(server.address, r#"{"jsonrpc":"2.0","method":"shutdown","params":{},"id":1}"#).await.json();
    assert_eq!(answer["error"]["data"]["error_code"], "E003");
}

#[tokio::test]
async fn a_notification_is_handled_and_gets_an_empty_answer() {
    let server = echo_player().await;
    for (question, heard) in [
        (r#"{"jsonrpc":"2.0","method":"shutdown","params":{}}"#, 1),
        (r#"{"jsonrpc":"2.0","method":"get_player_state","params":{}}"#, 2),
        (r#"{"jsonrpc":"2.0","method":"no_such_thing"}"#, 2),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 2),
    ] {
        let answer = ask(server.address, question).await;
        assert_eq!((answer.status, answer.body.len()), (202, 0), "{question}");
        assert_eq!(server.agent.received.load(Ordering::Relaxed), heard, "{question}");
    }
}

#[tokio::test]
async fn a_bearer_header_counts_as_token_unless_the_message_has_one() {
    let server = echo_player().await;
    let plain = r#"{"jsonrpc":"2.0","method":"shutdown","params":{},"id":1}"#;
    let with_token = r#"{"jsonrpc":"2.0","method":"shutdown","params":{"auth_token":"tok-message"},"id":1}"#;
    for (headers, question, token) in [
        ("Authorization: Bearer tok-header\r\n", plain, json!("tok-header")),
        ("authorization: bearer tok-header\r\n", plain, json!("tok-header")),
        ("Authorization: Bearer tok-header\r\n", with_token, json!("tok-message")),
        ("Authorization: Basic dXNlcjpwYXNz\r\n", plain, Value::Null),
        ("Authorization: Bearer \r\n", plain, Value::Null),
    ] {
        let answer = Raw::to(server.address).await.post("/mcp", headers, question).await;
        assert_eq!(answer.json()["result"]["token"], token, "{headers}");
    }
}
