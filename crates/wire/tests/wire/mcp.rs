use league_protocol::sender::Role;
use league_protocol::table::TABLE;
use league_wire::settings::ServerSettings;
use serde_json::{Value, json};

use crate::raw::{PING, Raw, ask};
use crate::support::{echo_player, serve_echo};

#[tokio::test]
async fn initialize_agrees_on_the_requested_revision_if_the_server_knows_it() {
    let server = echo_player().await;
    for (requested, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": requested, "capabilities": {}, "clientInfo": client });
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let answer = ask(server.address, &request.to_string()).await.json();
        assert_eq!(answer["result"]["protocolVersion"], answered);
        assert_eq!(answer["result"]["serverInfo"]["name"], "league-player");
        assert!(answer["result"]["capabilities"]["tools"].is_object());
    }
    let bare = ask(server.address, r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#).await.json();
    assert_eq!(bare["result"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn tools_list_shows_the_calls_of_the_role_with_their_schemas() {
    for role in [Role::Manager, Role::Referee, Role::Player] {
        let server = serve_echo(role, ServerSettings::default()).await;
        let answer = ask(server.address, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await.json();
        let tools = answer["result"]["tools"].as_array().unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        let own: Vec<_> = TABLE.iter().filter(|row| row.to.contains(&role)).map(|row| row.name).collect();
        assert_eq!(names, own);
        for tool in tools {
            assert!(["inputSchema", "outputSchema"].iter().all(|schema| tool[*schema]["type"] == "object"));
            assert!(!tool["description"].as_str().unwrap().is_empty());
        }
    }
}

#[tokio::test]
async fn a_session_of_an_mcp_client_works_on_one_connection() {
    let server = echo_player().await;
    let mut raw = Raw::to(server.address).await;
    let asked = async |raw: &mut Raw, question: &str| {
        raw.post("/mcp", "Accept: application/json, text/event-stream\r\n", question).await
    };
    assert_eq!(asked(&mut raw, r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#).await.status, 200);
    assert_eq!(asked(&mut raw, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await.status, 202);
    assert_eq!(
        asked(&mut raw, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await.json(),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} })
    );
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"shutdown","arguments":{}}}"#;
    let result = asked(&mut raw, call).await.json()["result"].take();
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&text, &result["isError"]), (&result["structuredContent"], &json!(false)));
    let unknown = asked(&mut raw, r#"{"jsonrpc":"2.0","id":3,"method":"prompts/get"}"#).await;
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (200, &json!(-32601)));
}

#[tokio::test]
async fn an_agent_has_empty_lists_of_resources_and_prompts_and_declares_only_tools() {
    for role in [Role::Manager, Role::Referee, Role::Player] {
        let server = serve_echo(role, ServerSettings::default()).await;
        let mut raw = Raw::to(server.address).await;
        for (method, list) in [
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
            ("prompts/list", "prompts"),
        ] {
            let asked = format!(r#"{{"jsonrpc":"2.0","id":3,"method":"{method}","params":{{}}}}"#);
            let answer = raw.post("/mcp", "", &asked).await;
            assert_eq!(answer.json(), json!({"jsonrpc": "2.0", "id": 3, "result": {list: []}}), "{role} {method}");
        }
        let begin = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
        let answer = raw.post("/mcp", "", begin).await.json();
        assert_eq!(answer["result"]["capabilities"], json!({"tools": {"listChanged": false}}));
    }
}

#[tokio::test]
async fn after_the_handshake_an_unknown_revision_in_the_header_is_refused() {
    let server = echo_player().await;
    let post = async |version: &str, body: &str| {
        let header = format!("MCP-Protocol-Version: {version}\r\n");
        Raw::to(server.address).await.post("/mcp", &header, body).await
    };
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shutdown","arguments":{}}}"#;
    for question in [list, call, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing"}}"#] {
        let answer = post("1999-01-01", question).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32022)), "{question}");
    }
    for known in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        assert_eq!(post(known, list).await.status, 200, "{known}");
        assert_eq!(post(known, call).await.json()["result"]["isError"], false, "{known}");
    }
    // A handshake, and a request that is not MCP, ignores the header.
    let handshake = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2026-07-28"}}"#;
    for version in ["1999-01-01", "2026-07-28"] {
        assert_eq!(post(version, handshake).await.json()["result"]["protocolVersion"], "2025-11-25");
        assert_eq!(post(version, r#"{"jsonrpc":"2.0","id":1,"method":"shutdown","params":{}}"#).await.status, 200);
    }
}

#[tokio::test]
async fn a_client_that_reads_only_streams_gets_one_event() {
    let server = echo_player().await;
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"shutdown","arguments":{}}}"#;
    for (accept, streams) in [
        ("text/event-stream", true),
        ("text/html, Text/Event-Stream;q=0.9", true),
        ("application/json, text/event-stream", false),
        ("text/event-stream, */*;q=0.1", false),
        ("text/html", false),
    ] {
        for question in [PING, call] {
            let answer = Raw::to(server.address).await.post("/mcp", &format!("Accept: {accept}\r\n"), question).await;
            assert_eq!(answer.has_header("content-type: text/event-stream"), streams, "{accept}");
            let text = String::from_utf8(answer.body.clone()).unwrap();
            let data = text.strip_prefix("event: message\ndata: ").and_then(|rest| rest.strip_suffix("\n\n"));
            assert_eq!(text.starts_with("event:"), streams, "{accept}");
            assert!(serde_json::from_str::<Value>(data.unwrap_or(&text)).unwrap()["result"].is_object(), "{text}");
        }
    }
    let notified = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let answer = Raw::to(server.address).await.post("/mcp", "Accept: text/event-stream\r\n", notified).await;
    assert_eq!((answer.status, answer.body.len()), (202, 0));
}
