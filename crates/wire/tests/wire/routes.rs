//! Paths, methods, hosts and origins.

use league_protocol::sender::Role;
use league_wire::settings::ServerSettings;
use serde_json::json;

use crate::raw::{PING, Raw};
use crate::support::{echo_player, serve_echo};

#[tokio::test]
async fn health_shows_the_state_of_the_agent() {
    let server = echo_player().await;
    let answer = Raw::to(server.address).await.get("/health").await;
    let health = json!({ "status": "ok", "role": "player", "id": "P01", "league_id": null, "state": "IDLE" });
    assert_eq!((answer.status, answer.json()), (200, health));
}

#[tokio::test]
async fn a_wrong_path_or_method_is_answered_with_the_existing_ones() {
    let server = echo_player().await;
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
        raw.send_request(line, "", "").await;
        let answer = raw.answer().await;
        assert_eq!(answer.status, status, "{line}");
        assert_eq!(answer.json()["exists"], json!(["POST /mcp", "GET /health"]), "{line}");
        if let Some(allow) = allow {
            assert!(answer.has_header(&format!("allow: {}", allow.to_ascii_lowercase())));
        }
    }
}

#[tokio::test]
async fn a_wrong_host_or_origin_is_refused_in_every_frame() {
    let (hosts, origins) = (vec!["league.example".into()], vec!["https://board.example".into()]);
    let settings = ServerSettings { allowed_hosts: hosts, allowed_origins: origins, ..ServerSettings::default() };
    let server = serve_echo(Role::Manager, settings).await;
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
