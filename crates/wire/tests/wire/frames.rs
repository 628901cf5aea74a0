use std::sync::atomic::Ordering;

use league_protocol::sender::Role;
use league_wire::settings::ServerSettings;
use serde_json::{Value, json};

use crate::raw::{Raw, ask};
use crate::support::{Parrot, parrot, player, shop};

fn message() -> Value {
    json!({
        "protocol": "league.v2", "message_type": "SHUTDOWN_COMMAND", "sender": "league_manager",
        "timestamp": "2025-01-15T10:30:00Z", "conversation_id": "talk-1",
    })
}

#[tokio::test]
async fn each_frame_is_answered_in_its_frame_and_echoes_the_conversation() {
    let server = player().await;
    let cases = [
        ("A", json!({ "jsonrpc": "2.0", "method": "shutdown", "params": message(), "id": 7 }), "/result"),
        ("B", json!({ "jsonrpc": "2.0", "method": "SHUTDOWN_COMMAND", "params": message(), "id": "x" }), "/result"),
        (
            "C",
            json!({ "jsonrpc": "2.0", "method": "tools/call", "id": 7,
                    "params": { "name": "shutdown", "arguments": message() } }),
            "/result/structuredContent",
        ),
        ("D", message(), ""),
        (
            "E",
            json!({ "jsonrpc": "2.0", "method": "shutdown", "params": { "message": message() }, "id": 7 }),
            "/result",
        ),
    ];
    for (frame, question, place) in cases {
        let answer = ask(server.address, &question.to_string()).await;
        assert_eq!(answer.status, 200);
        assert!(answer.head.to_ascii_lowercase().contains("content-type: application/json\r\n"));
        let json = answer.json();
        let said = json.pointer(place).unwrap();
        assert_eq!((&said["frame"], &said["heard"]), (&json!(frame), &json!("shutdown")));
        assert_eq!(said["conversation_id"], "talk-1", "{frame}");
        assert_eq!(json.get("id"), question.get("id"), "{frame}");
    }
}

#[tokio::test]
async fn flat_fields_posted_to_register_reach_a_manager_only() {
    let manager = parrot(Role::Manager, ServerSettings::default()).await;
    let fields = r#"{"display_name":"Ada","version":"1.0.0","endpoint":"http://localhost:8101/mcp"}"#;
    let answer = Raw::to(manager.address).await.post("/register", "", fields).await;
    assert_eq!((answer.status, &answer.json()["frame"]), (200, &json!("R")));
    assert_eq!(answer.json()["message_type"], "LEAGUE_REGISTER_RESPONSE");

    let player = player().await;
    let answer = Raw::to(player.address).await.post("/register", "", fields).await;
    assert_eq!(answer.status, 404);
}

#[tokio::test]
async fn a_registration_under_data_is_read_and_an_error_there_has_a_status_of_its_own() {
    let manager = parrot(Role::Manager, ServerSettings::default()).await;
    let post = async |body: &str| Raw::to(manager.address).await.post("/register", "", body).await;
    let data = r#"{"data":{"display_name":"Ada","version":"1.0.0","endpoint":"http://localhost:8101/mcp"}}"#;
    let answer = post(data).await;
    assert_eq!((answer.status, &answer.json()["frame"]), (200, &json!("R")));
    for wrong in ["{}", r#"{"data":{}}"#, r#"{"data":5}"#, r#"{"display_name":"Ada"}"#, "[]", "nothing"] {
        let answer = post(wrong).await;
        assert_eq!((answer.status, &answer.json()["message_type"]), (400, &json!("LEAGUE_ERROR")), "{wrong}");
    }
}

#[tokio::test]
async fn a_method_of_no_table_goes_by_the_type_of_its_message_at_every_role() {
    for (role, kind, heard) in [
        (Role::Manager, "LEAGUE_QUERY", "league_query"),
        (Role::Referee, "ROUND_ANNOUNCEMENT", "notify_round"),
        (Role::Player, "SHUTDOWN_COMMAND", "shutdown"),
    ] {
        let server = parrot(role, ServerSettings::default()).await;
        let mut letter = message();
        letter["message_type"] = json!(kind);
        letter["round_id"] = json!(1);
        letter["matches"] = json!([]);
        letter["query_type"] = json!("GET_STATUS");
        for params in [letter.clone(), json!({ "message": letter })] {
            for method in ["handle_message", "mcp_message", "whatever"] {
                let question = json!({"jsonrpc": "2.0", "method": method, "params": params, "id": 7});
                let answer = ask(server.address, &question.to_string()).await.json();
                assert_eq!(answer["result"]["heard"], heard, "{role} {method}: {answer}");
            }
        }
        let unknown =
            json!({"jsonrpc": "2.0", "method": "handle_message", "params": {"message_type": "HELLO"}, "id": 7});
        assert_eq!(ask(server.address, &unknown.to_string()).await.json()["error"]["code"], -32601, "{role}");
        let elsewhere = json!({"jsonrpc": "2.0", "method": "handle_message", "id": 7,
            "params": {"message_type": if role == Role::Player { "LEAGUE_QUERY" } else { "CHOOSE_PARITY_CALL" }}});
        assert_eq!(ask(server.address, &elsewhere.to_string()).await.json()["error"]["code"], -32601, "{role}");
    }
}

#[tokio::test]
async fn another_version_of_json_rpc_is_no_request() {
    let server = player().await;
    for version in [json!("1.0"), json!(2), json!(null)] {
        let question = json!({"jsonrpc": version, "method": "shutdown", "params": message(), "id": 7});
        let answer = ask(server.address, &question.to_string()).await.json();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!(7)), "{version}");
    }
}

#[tokio::test]
async fn a_refusal_of_the_agent_is_an_error_of_the_frame() {
    let server = player().await;
    let direct = ask(server.address, r#"{"jsonrpc":"2.0","method":"get_player_state","params":{},"id":1}"#).await;
    assert_eq!((direct.status, &direct.json()["error"]["data"]["error_code"]), (200, &json!("E010")));
    let tool = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"get_player_state","arguments":{}},"id":1}"#;
    let tool = ask(server.address, tool).await.json();
    assert_eq!((&tool["result"]["isError"], tool.get("error")), (&json!(true), None));
}

#[tokio::test]
async fn what_is_no_request_is_said_to_be_none() {
    let server = player().await;
    let cases = [
        ("not json", 400, -32700),
        ("", 400, -32700),
        (r#"{"jsonrpc":"2.0","id":1}"#, 200, -32600),
        (r#"{"jsonrpc":"2.0","method":"no_such_thing","id":1}"#, 200, -32601),
        (r#"{"jsonrpc":"2.0","method":"register_player","params":{},"id":1}"#, 200, -32601),
        (r#"{"jsonrpc":"2.0","method":"start_league","params":{},"id":1}"#, 200, -32601),
        (r#"{"jsonrpc":"2.0","method":"choose_parity","params":{},"id":1}"#, 200, -32602),
        (
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"start_league","arguments":{}},"id":1}"#,
            200,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"nothing"},"id":1}"#, 200, -32602),
    ];
    for (question, status, code) in cases {
        let answer = ask(server.address, question).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (status, &json!(code)), "{question}");
    }
    assert_eq!(server.agent.heard.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_strict_agent_forgives_nothing() {
    let server = shop(Parrot { strict: true, ..Parrot::new(Role::Player) }, ServerSettings::default()).await;
    let answer = ask(server.address, r#"{"jsonrpc":"2.0","method":"shutdown","params":{},"id":1}"#).await.json();
    assert_eq!(answer["error"]["data"]["error_code"], "E003");
}

#[tokio::test]
async fn a_notification_is_heard_and_answered_with_nothing() {
    let server = player().await;
    for (question, heard) in [
        (r#"{"jsonrpc":"2.0","method":"shutdown","params":{}}"#, 1),
        (r#"{"jsonrpc":"2.0","method":"get_player_state","params":{}}"#, 2),
        (r#"{"jsonrpc":"2.0","method":"no_such_thing"}"#, 2),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 2),
    ] {
        let answer = ask(server.address, question).await;
        assert_eq!((answer.status, answer.body.len()), (202, 0), "{question}");
        assert_eq!(server.agent.heard.load(Ordering::Relaxed), heard, "{question}");
    }
}

#[tokio::test]
async fn a_bearer_is_as_good_as_a_token_and_the_message_has_the_last_word() {
    let server = player().await;
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
