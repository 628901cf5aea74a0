//! `/mcp` as an MCP server of the revision without a handshake.

use std::sync::atomic::Ordering;

use league_protocol::sender::Role;
use league_wire::settings::ServerSettings;
use serde_json::{Value, json};

use crate::raw::{Answer, Raw};
use crate::support::{EchoServer, echo_player, serve_echo};

const REVISION: &str = "2026-07-28";

fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn request(method: &str, mut params: Value) -> Value {
    if params.get("_meta").is_none() {
        params["_meta"] = meta(REVISION);
    }
    json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": params })
}

fn header_lines(headers: &[(&str, &str)]) -> String {
    headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect()
}

/// Adds the headers that repeat the request.
async fn ask(server: &EchoServer, method: &str, params: Value) -> Answer {
    let name = params["name"].as_str().map(str::to_owned);
    let mut headers = vec![("MCP-Protocol-Version", REVISION), ("Mcp-Method", method)];
    headers.extend(name.as_deref().map(|name| ("Mcp-Name", name)));
    post(server, &header_lines(&headers), &request(method, params)).await
}

async fn post(server: &EchoServer, headers: &str, body: &Value) -> Answer {
    Raw::to(server.address).await.post("/mcp", headers, &body.to_string()).await
}

/// Status and error code; checks that the refusal has the request's id.
fn error_of(answer: &Answer) -> (u16, i64) {
    let body = answer.json();
    assert_eq!(body["id"], 5, "{body}");
    (answer.status, body["error"]["code"].as_i64().unwrap())
}

#[tokio::test]
async fn discovery_and_lists_are_complete_cacheable_results() {
    for role in [Role::Manager, Role::Referee, Role::Player] {
        let server = serve_echo(role, ServerSettings::default()).await;
        for (method, list) in [
            ("server/discover", "supportedVersions"),
            ("tools/list", "tools"),
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
            ("prompts/list", "prompts"),
        ] {
            let answer = ask(&server, method, json!({})).await;
            let result = answer.json()["result"].take();
            assert_eq!((answer.status, &result["resultType"]), (200, &json!("complete")), "{method}");
            assert!(result["ttlMs"].is_u64() && result["cacheScope"] == "public", "{method}");
            let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
            assert_eq!(info["name"], format!("league-{role}"));
            if method == "server/discover" {
                assert_eq!(result[list][0], REVISION);
                assert!(result["capabilities"]["tools"].is_object());
            } else {
                let handshake = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
                assert_eq!(result[list], crate::raw::ask(server.address, &handshake).await.json()["result"][list]);
            }
        }
    }
}

#[tokio::test]
async fn the_result_of_a_tool_is_complete_also_for_an_error() {
    let server = echo_player().await;
    for (tool, is_error) in [("shutdown", false), ("get_player_state", true), ("choose_parity", true)] {
        let answer = ask(&server, "tools/call", json!({ "name": tool, "arguments": {} })).await;
        let result = answer.json()["result"].take();
        assert_eq!((answer.status, &result["isError"]), (200, &json!(is_error)), "{tool}");
        assert_eq!((&result["resultType"], result["_meta"].is_object()), (&json!("complete"), true), "{tool}");
        assert_eq!(result["structuredContent"].is_object(), !is_error, "{tool}");
    }
    let unknown = ask(&server, "tools/call", json!({ "name": "start_league", "arguments": {} })).await;
    assert_eq!(error_of(&unknown), (200, -32602));
}

#[tokio::test]
async fn methods_of_other_revisions_are_not_found() {
    let server = echo_player().await;
    for method in ["initialize", "ping", "logging/setLevel", "prompts/get", "unknown/method"] {
        assert_eq!(error_of(&ask(&server, method, json!({})).await), (404, -32601), "{method}");
    }
}

#[tokio::test]
async fn a_request_without_version_or_capabilities_is_refused() {
    let server = echo_player().await;
    let headers = header_lines(&[("MCP-Protocol-Version", REVISION), ("Mcp-Method", "tools/list")]);
    for missing in ["protocolVersion", "clientCapabilities"] {
        let mut meta = meta(REVISION);
        meta.as_object_mut().unwrap().remove(&format!("io.modelcontextprotocol/{missing}"));
        let answer = post(&server, &headers, &request("tools/list", json!({ "_meta": meta }))).await;
        assert_eq!(error_of(&answer), (400, -32602), "{missing}");
    }
    let bare = post(&server, &headers, &json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list" })).await;
    assert_eq!(error_of(&bare), (400, -32602));
    let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": { "name": "shutdown" } });
    assert_eq!(error_of(&post(&server, &headers, &call).await), (400, -32602));
    assert_eq!(server.agent.received.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn an_unknown_revision_is_refused_with_the_supported_ones() {
    let server = echo_player().await;
    for version in ["2027-01-01", "v999.0.0"] {
        let headers = header_lines(&[("MCP-Protocol-Version", version), ("Mcp-Method", "tools/list")]);
        let answer = post(&server, &headers, &request("tools/list", json!({ "_meta": meta(version) }))).await;
        assert_eq!(error_of(&answer), (400, -32022));
        let data = answer.json()["error"]["data"].take();
        assert_eq!((&data["requested"], &data["supported"][0]), (&json!(version), &json!(REVISION)));
    }
}

#[tokio::test]
async fn a_request_whose_headers_contradict_its_body_is_refused() {
    let server = echo_player().await;
    let all = [("MCP-Protocol-Version", REVISION), ("Mcp-Method", "tools/call"), ("Mcp-Name", "shutdown")];
    let call = request("tools/call", json!({ "name": "shutdown", "arguments": {} }));
    for place in 0..all.len() {
        let mut without = all.to_vec();
        without.remove(place);
        assert_eq!(error_of(&post(&server, &header_lines(&without), &call).await), (400, -32020), "without {place}");
        let mut wrong = all;
        wrong[place].1 = if place == 0 { "2025-11-25" } else { "SHUTDOWN" };
        assert_eq!(error_of(&post(&server, &header_lines(&wrong), &call).await), (400, -32020), "wrong {place}");
    }
    // Also for an unknown tool: request errors come before call errors.
    let unknown = request("tools/call", json!({ "name": "nothing" }));
    assert_eq!(error_of(&post(&server, &header_lines(&all), &unknown).await), (400, -32020));
    assert_eq!(server.agent.received.load(Ordering::Relaxed), 0);
    let wrapped = [all[0], all[1], ("mcp-name", "=?base64?c2h1dGRvd24=?=")];
    assert_eq!(post(&server, &header_lines(&wrapped), &call).await.json()["result"]["isError"], false);
}

#[tokio::test]
async fn a_batch_is_refused() {
    let server = echo_player().await;
    let batch = json!([request("tools/list", json!({}))]);
    let header = header_lines(&[("MCP-Protocol-Version", REVISION)]);
    let whole = post(&server, &header, &batch).await;
    assert_eq!((whole.status, &whole.json()["error"]["code"]), (400, &json!(-32600)));
    let parts = post(&server, "", &batch).await.json();
    assert_eq!((&parts[0]["error"]["code"], &parts[0]["id"]), (&json!(-32600), &json!(5)));
}
