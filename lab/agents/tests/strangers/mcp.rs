//! Players that are stock MCP servers want all the ceremony of their revision.

use league_test_agents::player::dialect::{PlayerDialect, Speech};
use league_test_agents::player::{Plan, Player};
use league_test_agents::post::{Posted, post};
use serde_json::{Value, json};

use crate::support::message;

const BOTH: (&str, &str) = ("accept", "application/json, text/event-stream");

fn request(method: &str, params: Value) -> Value {
    let mut request = json!({"jsonrpc": "2.0", "id": 3, "method": method});
    request["params"] = params;
    request
}

fn choose() -> Value {
    json!({"name": "choose_parity", "arguments": message("CHOOSE_PARITY_CALL")})
}

async fn send(player: &Player, headers: &[(&str, &str)], body: Value) -> Posted {
    post(&player.endpoint(), headers, &body).await.unwrap()
}

#[tokio::test]
async fn a_session_is_opened_used_and_lost() {
    let player = Plan::new("Ada", Speech::Session).serve().unwrap();
    assert_eq!(send(&player, &[], request("initialize", json!({}))).await.status, 406);
    let early = send(&player, &[BOTH], request("tools/call", choose())).await;
    assert_eq!((early.status, early.header("mcp-session-id")), (400, Some("not-a-session")));
    let hello = send(&player, &[BOTH], request("initialize", json!({"protocolVersion": "2025-06-18"}))).await;
    assert_eq!(hello.header("content-type"), Some("text/event-stream"));
    assert_eq!(hello.json()["result"]["protocolVersion"], "2025-06-18");
    let session = ("mcp-session-id", hello.header("mcp-session-id").unwrap());
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(send(&player, &[BOTH, session], ready).await.status, 202);
    let chosen = send(&player, &[BOTH, session], request("tools/call", choose())).await.json();
    assert!(chosen["result"]["content"][0]["text"].as_str().unwrap().contains("\"parity_choice\":\"even\""));
    let modern = [BOTH, session, ("mcp-protocol-version", "2026-07-28")];
    assert_eq!(send(&player, &modern, request("tools/call", choose())).await.status, 400);
    player.forget_sessions();
    assert_eq!(send(&player, &[BOTH, session], request("tools/call", choose())).await.status, 404);
    assert_eq!(player.sessions_opened(), 1);
}

#[tokio::test]
async fn without_a_handshake_every_request_says_everything() {
    let player = Plan::new("Ada", Speech::Stateless).serve().unwrap();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let (version, call) = (("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"));
    let mut params = choose();
    assert_eq!(send(&player, &[BOTH], request("tools/call", params.clone())).await.status, 400);
    params["_meta"] = meta.clone();
    let mismatch = send(&player, &[BOTH, version, call], request("tools/call", params.clone())).await;
    assert_eq!((mismatch.status, &mismatch.json()["error"]["code"]), (400, &json!(-32020)));
    let headers = [BOTH, version, call, ("mcp-name", "choose_parity")];
    let chosen = send(&player, &headers, request("tools/call", params)).await.json();
    assert_eq!(chosen["result"]["resultType"], "complete");
    let headers = [BOTH, version, ("mcp-method", "server/discover")];
    let found = send(&player, &headers, request("server/discover", json!({ "_meta": meta }))).await.json();
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
    let headers = [BOTH, version, ("mcp-method", "nothing/here")];
    assert_eq!(send(&player, &headers, request("nothing/here", json!({ "_meta": meta }))).await.status, 404);
}

#[tokio::test]
async fn tools_tell_their_names_and_what_they_take() {
    let plan = || Plan::new("Ada", Speech::Tools).dialect(PlayerDialect::OtherToolNames);
    let listed = async |player: &Player| send(player, &[], request("tools/list", json!({}))).await.json();
    let call = |arguments: Value| request("tools/call", json!({"name": "parity_choose", "arguments": arguments}));

    let fields = plan().dialect(PlayerDialect::FieldsOnly).serve().unwrap();
    let tools = listed(&fields).await["result"]["tools"].clone();
    let names: Vec<&str> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["receive_game_invitation", "parity_choose", "receive_game_over"]);
    assert_eq!(tools[1]["inputSchema"]["additionalProperties"], false);
    assert_eq!(send(&fields, &[], call(message("CHOOSE_PARITY_CALL"))).await.json()["result"]["isError"], true);
    let few = send(&fields, &[], call(json!({"match_id": "R1M1", "player_id": "P01"}))).await;
    assert!(few.text.contains("parity_choice"), "{}", few.text);

    let keyed = plan().dialect(PlayerDialect::UnderOneKey("message")).serve().unwrap();
    assert_eq!(listed(&keyed).await["result"]["tools"][0]["inputSchema"]["required"], json!(["message"]));
    let inside = send(&keyed, &[], call(json!({"message": message("CHOOSE_PARITY_CALL")}))).await;
    assert!(inside.text.contains("parity_choice"), "{}", inside.text);
}
