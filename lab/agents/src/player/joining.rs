//! Registration of a player, in its own frame and with its own fields.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};

use super::Plan;
use super::dialect::{PlayerDialect, Speech, parameter};
use crate::frame::{Frame, opened};
use crate::message::{envelope, text, with};
use crate::names::Names;
use crate::post::post;

const REQUEST: &str = "LEAGUE_REGISTER_REQUEST";

pub(crate) const ONE_METHOD: &str = "handle_message";

const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(100);

/// The fields that the dialect `WantsColon` reads from the answer; it fails without any of them.
const NEEDED: [&str; 9] = [
    "protocol",
    "message_type",
    "sender",
    "timestamp",
    "conversation_id",
    "status",
    "player_id",
    "auth_token",
    "league_id",
];

pub(crate) fn request(plan: &Plan, endpoint: &str, manager: &str) -> (String, Value) {
    let Plan { name, speech, dialects, .. } = plan;
    let mut meta = json!({
        "display_name": name, "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": endpoint,
    });
    if dialects.contains(&PlayerDialect::AcceptsBatches) || dialects.contains(&PlayerDialect::RefusesBatches) {
        meta["accepts_batches"] = true.into();
    }
    let kept = parameter!(dialects, KeepsId);
    let sender = format!("player:{}", kept.unwrap_or(name));
    let message = with(envelope(REQUEST, &sender, "conv-reg"), json!({ "player_meta": meta }));
    let message = if let Some(id) = kept { with(message, json!({ "player_id": id })) } else { message };
    let names = Names::usual_for(&[REQUEST]);
    if dialects.contains(&PlayerDialect::WantsColon) {
        let message = with(message, json!({"auth_token": ""}));
        return (manager.to_owned(), Frame::Types.request(REQUEST, &names, 1, &message));
    }
    if dialects.contains(&PlayerDialect::RegistersBriefly) {
        let id = kept.unwrap_or(name);
        let brief = json!({"protocol": "league.v2", "message_type": REQUEST, "player_id": id, "endpoint": endpoint});
        return (manager.to_owned(), brief);
    }
    if *speech == Speech::Register {
        let flat = json!({"display_name": name, "version": "1.0.0", "endpoint": endpoint});
        let flat = if dialects.contains(&PlayerDialect::RegistersUnderData) { json!({ "data": flat }) } else { flat };
        return (format!("{}/register", manager.trim_end_matches("/mcp")), flat);
    }
    let names = if *speech == Speech::OneMethod { names.named(REQUEST, ONE_METHOD) } else { names };
    (manager.to_owned(), plan.frame().request(REQUEST, &names, 1, &message))
}

pub(crate) async fn register(url: &str, request: &Value, dialects: &[PlayerDialect]) -> io::Result<Value> {
    let headers = [("accept", "application/json, text/event-stream")];
    let mut tries = 0;
    let answer = loop {
        match post(url, &headers, request).await {
            Ok(answer) => break answer,
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused && tries < TRIES => tries += 1,
            Err(error) => return Err(error),
        }
        tokio::time::sleep(PAUSE).await;
    };
    let reply = opened(&answer.json()).map_err(io::Error::other)?;
    let accepted = ["ACCEPTED", "REGISTERED", "ok"].contains(&text(&reply, "status"));
    if !accepted || text(&reply, "player_id").is_empty() {
        return Err(io::Error::other(format!("not registered: {}", answer.text)));
    }
    let missing = NEEDED.iter().find(|field| reply.get(**field).is_none_or(Value::is_null));
    match missing {
        Some(field) if dialects.contains(&PlayerDialect::WantsColon) => {
            Err(io::Error::other(format!("KeyError: '{field}'")))
        }
        Some(_) | None => Ok(reply),
    }
}
