//! A player whose test decides its answers to invitations.

use league_test_agents::http_server::{HttpReply, HttpServer, Then};
use serde_json::{Value, json};

use super::http;

/// Registers with the manager, and stops with its league.
pub(crate) fn stand_in(
    manager: &str,
    id: &str,
    answer_invitation: impl Fn(&Value) -> HttpReply + Send + Sync + 'static,
) -> HttpServer {
    let server = HttpServer::stub(move |request| {
        let request = request.json();
        let acknowledged = HttpReply::result(&request, &json!({"status": "ok"}));
        match request["method"].as_str().unwrap() {
            "handle_game_invitation" => answer_invitation(&request),
            "notify_league_completed" => acknowledged.then(Then::Stop),
            _ => acknowledged,
        }
    });
    let server = server.unwrap();
    register_player(manager, id, &server.endpoint());
    server
}

/// Registers a player at `endpoint`, whether or not a program listens there.
pub(crate) fn register_player(manager: &str, id: &str, endpoint: &str) {
    let meta = json!({
        "display_name": format!("Stand-in {id}"), "version": "1.0.0", "game_types": ["even_odd"],
        "contact_endpoint": endpoint,
    });
    let answer = http::call(manager, "register_player", &json!({"player_id": id, "player_meta": meta}));
    assert_eq!(answer["result"]["status"], "ACCEPTED", "{answer}");
}
