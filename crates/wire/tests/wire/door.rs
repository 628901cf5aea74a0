//! Paths, methods, hosts and origins.

use league_protocol::sender::Role;
use league_wire::settings::ServerSettings;
use serde_json::json;

use crate::raw::Raw;
use crate::support::{parrot, player};

const PING: &str = r#"{"jsonrpc":"2.0","method":"ping","id":1}"#;

#[tokio::test]
async fn health_says_how_the_agent_is() {
    let server = player().await;
    let mut raw = Raw::to(server.address).await;
    raw.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    let answer = raw.answer().await;
    let health = json!({ "status": "ok", "role": "player", "id": "P01", "league_id": null, "state": "IDLE" });
    assert_eq!((answer.status, answer.json()), (200, health));
}

#[tokio::test]
async fn a_wrong_path_or_method_is_told_what_exists() {
    let server = player().await;
    for (line, status, allow) in [
        ("GET /mcp", 405, Some("POST")),
        ("DELETE /mcp", 405, Some("POST")),
        ("PUT /mcp", 405, Some("POST")),
        ("POST /health", 405, Some("GET, HEAD")),
        ("GET /", 404, None),
        ("POST /mcp/x", 404, None),
        ("POST /register", 404, None),
    ] {
        let mut raw = Raw::to(server.address).await;
        raw.send(format!("{line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")).await;
        let answer = raw.answer().await;
        assert_eq!(answer.status, status, "{line}");
        assert_eq!(answer.json()["exists"], json!(["POST /mcp", "GET /health"]), "{line}");
        if let Some(allow) = allow {
            assert!(answer.head.to_ascii_lowercase().contains(&format!("allow: {}\r\n", allow.to_ascii_lowercase())));
        }
    }
}

#[tokio::test]
async fn strangers_are_turned_away_from_every_frame() {
    let server = parrot(
        Role::Manager,
        ServerSettings {
            allowed_hosts: vec!["league.example".into()],
            allowed_origins: vec!["https://board.example".into()],
            ..ServerSettings::default()
        },
    )
    .await;
    for (headers, status) in [
        ("Host: 127.0.0.1:80\r\n", 200),
        ("Host: league.example\r\nOrigin: https://board.example\r\n", 200),
        ("Host: localhost\r\nOrigin: http://localhost:6274\r\n", 200),
        ("Host: evil.example\r\n", 403),
        ("Host: localhost\r\nOrigin: https://evil.example\r\n", 403),
        ("Host: localhost\r\nOrigin: null\r\n", 403),
    ] {
        let mut raw = Raw::to(server.address).await;
        assert_eq!(raw.post("/mcp", headers, PING).await.status, status, "{headers}");
        let bare = r#"{"message_type":"LEAGUE_REGISTER_REQUEST"}"#;
        assert_eq!(raw.post("/mcp", headers, bare).await.status, status, "{headers}");
        // An empty registration is an error with a status of its own.
        let registered = if status == 200 { 400 } else { status };
        assert_eq!(raw.post("/register", headers, "{}").await.status, registered, "{headers}");
    }
    let mut raw = Raw::to(server.address).await;
    raw.send("POST /mcp HTTP/1.1\r\nContent-Length: 0\r\n\r\n").await;
    assert_eq!(raw.answer().await.status, 400);
}
