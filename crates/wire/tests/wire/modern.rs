//! `/mcp` as an MCP server of the revision without a handshake.

use std::sync::atomic::Ordering;

use league_protocol::sender::Role;
use league_test_agents::suite_proxy;
use league_wire::settings::ServerSettings;
use serde_json::{Value, json};

use crate::raw::{Answer, Raw};
use crate::support::{Served, parrot, player};

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

fn lines(headers: &[(&str, &str)]) -> String {
    headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect()
}

/// Adds the headers that repeat the request.
async fn ask(server: &Served, method: &str, params: Value) -> Answer {
    let name = params["name"].as_str().map(str::to_owned);
    let mut headers = vec![("MCP-Protocol-Version", REVISION), ("Mcp-Method", method)];
    headers.extend(name.as_deref().map(|name| ("Mcp-Name", name)));
    post(server, &lines(&headers), &request(method, params)).await
}

async fn post(server: &Served, headers: &str, body: &Value) -> Answer {
    Raw::to(server.address).await.post("/mcp", headers, &body.to_string()).await
}

/// Status and error code; checks that the refusal has the request's id.
fn objection(answer: &Answer) -> (u16, i64) {
    let body = answer.json();
    assert_eq!(body["id"], 5, "{body}");
    (answer.status, body["error"]["code"].as_i64().unwrap())
}

#[tokio::test]
async fn discovery_and_lists_are_complete_results_that_may_be_kept() {
    for role in [Role::Manager, Role::Referee, Role::Player] {
        let server = parrot(role, ServerSettings::default()).await;
        for method in ["server/discover", "tools/list"] {
            let answer = ask(&server, method, json!({})).await;
            let result = answer.json()["result"].take();
            assert_eq!((answer.status, &result["resultType"]), (200, &json!("complete")), "{method}");
            assert!(result["ttlMs"].is_u64() && result["cacheScope"] == "public", "{method}");
            let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
            assert_eq!(info["name"], format!("league-{role}"));
            if method == "server/discover" {
                assert_eq!(result["supportedVersions"][0], REVISION);
                assert!(result["capabilities"]["tools"].is_object());
            } else {
                let plain = crate::raw::ask(server.address, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
                assert_eq!(result["tools"], plain.json()["result"]["tools"]);
            }
        }
    }
}

#[tokio::test]
async fn a_tool_is_called_and_its_result_is_complete_even_when_it_is_an_error() {
    let server = player().await;
    for (tool, is_error) in [("shutdown", false), ("get_player_state", true), ("choose_parity", true)] {
        let answer = ask(&server, "tools/call", json!({ "name": tool, "arguments": {} })).await;
        let result = answer.json()["result"].take();
        assert_eq!((answer.status, &result["isError"]), (200, &json!(is_error)), "{tool}");
        assert_eq!((&result["resultType"], result["_meta"].is_object()), (&json!("complete"), true), "{tool}");
        assert_eq!(result["structuredContent"].is_object(), !is_error, "{tool}");
    }
    let unknown = ask(&server, "tools/call", json!({ "name": "start_league", "arguments": {} })).await;
    assert_eq!(objection(&unknown), (200, -32602));
}

#[tokio::test]
async fn lists_of_what_no_agent_has_are_empty() {
    let server = player().await;
    for (method, list) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        let answer = ask(&server, method, json!({})).await;
        let result = answer.json()["result"].take();
        assert_eq!((answer.status, &result[list], &result["resultType"]), (200, &json!([]), &json!("complete")));
        assert!(result["ttlMs"].is_u64() && result["cacheScope"] == "public", "{method}");
    }
}

#[tokio::test]
async fn methods_that_were_removed_or_never_there_are_not_found() {
    let server = player().await;
    for method in ["initialize", "ping", "logging/setLevel", "prompts/get", "unknown/method"] {
        assert_eq!(objection(&ask(&server, method, json!({})).await), (404, -32601), "{method}");
    }
}

#[tokio::test]
async fn every_request_says_what_it_speaks_and_what_its_client_can_do() {
    let server = player().await;
    let headers = lines(&[("MCP-Protocol-Version", REVISION), ("Mcp-Method", "tools/list")]);
    for missing in ["protocolVersion", "clientCapabilities"] {
        let mut meta = meta(REVISION);
        meta.as_object_mut().unwrap().remove(&format!("io.modelcontextprotocol/{missing}"));
        let answer = post(&server, &headers, &request("tools/list", json!({ "_meta": meta }))).await;
        assert_eq!(objection(&answer), (400, -32602), "{missing}");
    }
    let bare = post(&server, &headers, &json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list" })).await;
    assert_eq!(objection(&bare), (400, -32602));
    let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": { "name": "shutdown" } });
    assert_eq!(objection(&post(&server, &headers, &call).await), (400, -32602));
    assert_eq!(server.agent.heard.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn an_unknown_revision_is_answered_with_the_known_ones() {
    let server = player().await;
    for version in ["2027-01-01", "v999.0.0"] {
        let headers = lines(&[("MCP-Protocol-Version", version), ("Mcp-Method", "tools/list")]);
        let answer = post(&server, &headers, &request("tools/list", json!({ "_meta": meta(version) }))).await;
        assert_eq!(objection(&answer), (400, -32022));
        let data = answer.json()["error"]["data"].take();
        assert_eq!((&data["requested"], &data["supported"][0]), (&json!(version), &json!(REVISION)));
    }
}

#[tokio::test]
async fn headers_repeat_the_body_or_the_request_is_refused() {
    let server = player().await;
    let all = [("MCP-Protocol-Version", REVISION), ("Mcp-Method", "tools/call"), ("Mcp-Name", "shutdown")];
    let call = request("tools/call", json!({ "name": "shutdown", "arguments": {} }));
    for place in 0..all.len() {
        let mut without = all.to_vec();
        without.remove(place);
        assert_eq!(objection(&post(&server, &lines(&without), &call).await), (400, -32020), "without {place}");
        let mut wrong = all;
        wrong[place].1 = if place == 0 { "2025-11-25" } else { "SHUTDOWN" };
        assert_eq!(objection(&post(&server, &lines(&wrong), &call).await), (400, -32020), "wrong {place}");
    }
    // Also for an unknown tool: request errors come before call errors.
    let unknown = request("tools/call", json!({ "name": "nothing" }));
    assert_eq!(objection(&post(&server, &lines(&all), &unknown).await), (400, -32020));
    assert_eq!(server.agent.heard.load(Ordering::Relaxed), 0);
    let wrapped = [all[0], all[1], ("mcp-name", "=?base64?c2h1dGRvd24=?=")];
    assert_eq!(post(&server, &lines(&wrapped), &call).await.json()["result"]["isError"], false);
}

#[tokio::test]
async fn there_are_no_batches() {
    let server = player().await;
    let batch = json!([request("tools/list", json!({}))]);
    let header = lines(&[("MCP-Protocol-Version", REVISION)]);
    let whole = post(&server, &header, &batch).await;
    assert_eq!((whole.status, &whole.json()["error"]["code"]), (400, &json!(-32600)));
    let parts = post(&server, "", &batch).await.json();
    assert_eq!((&parts[0]["error"]["code"], &parts[0]["id"]), (&json!(-32600), &json!(5)));
}

#[tokio::test]
async fn the_suites_tools_are_those_of_a_proxy() {
    let mut server = player().await;
    let call = json!({ "name": "test_simple_text", "arguments": {} });
    assert_eq!(objection(&ask(&server, "tools/call", call.clone()).await), (200, -32602));
    let names = |list: Value| -> Vec<String> {
        let tools = list["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let usual = names(ask(&server, "tools/list", json!({})).await.json());

    let proxy = suite_proxy::start(server.address).unwrap();
    server.address = proxy.address;
    let more = names(ask(&server, "tools/list", json!({})).await.json());
    assert_eq!((&more[..usual.len()], more.len()), (&usual[..], usual.len() + 4));
    let result = ask(&server, "tools/call", call).await.json()["result"].take();
    assert_eq!((&result["isError"], &result["resultType"]), (&json!(false), &json!("complete")));
    let region = json!({ "name": "test_header", "arguments": { "region": "eu" } });
    assert_eq!(objection(&ask(&server, "tools/call", region).await), (400, -32020));
}
