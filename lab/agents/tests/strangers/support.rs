//! Messages as any referee and any manager would send them.

use league_test_agents::frame::Frame;
use league_test_agents::names::Names;
use league_test_agents::player::Player;
use league_test_agents::post::{Posted, post};
use serde_json::{Value, json};

/// Messages with everything in them that anybody wants.
pub(crate) fn message(kind: &str) -> Value {
    let whose = if kind.starts_with("GAME") || kind.starts_with("CHOOSE") { "referee:REF01" } else { "league_manager" };
    json!({
        "protocol": "league.v2", "message_type": kind, "sender": whose, "timestamp": "2026-03-04T09:00:00Z",
        "conversation_id": "conv-r1m1", "auth_token": "pass", "league_id": "cup", "round_id": 1, "match_id": "R1M1",
        "game_id": "R1M1", "player_id": "P01", "game_type": "even_odd", "opponent_id": "P02",
        "game_invitation": {"match_id": "R1M1"}, "parity_context": {"match_id": "R1M1"},
    })
}

pub(crate) fn all() -> Names {
    Names::usual_for(&["GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER", "ROUND_ANNOUNCEMENT", "LEAGUE_COMPLETED"])
}

/// Asks a player in a frame.
pub(crate) async fn ask(player: &Player, frame: Frame, kind: &str) -> Posted {
    post(&player.endpoint(), &[], &frame.request(kind, &all(), 7, &message(kind))).await.unwrap()
}

/// Asks a player in frame A with another message.
pub(crate) async fn say(player: &Player, message: Value) -> Value {
    let kind = message["message_type"].as_str().unwrap().to_owned();
    post(&player.endpoint(), &[], &Frame::Direct.request(&kind, &all(), 7, &message)).await.unwrap().json()
}
