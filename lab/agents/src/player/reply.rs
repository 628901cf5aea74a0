//! A player's answer to a message, in its dialects.

use serde_json::{Value, json};

use super::dialect::{PlayerDialect, parameter};
use super::state::State;
use crate::frame::FramedCall;
use crate::message::{envelope, now, text, with, without};

const ENVELOPE: [&str; 5] = ["protocol", "message_type", "sender", "timestamp", "conversation_id"];

pub(crate) fn to(dialects: &[PlayerDialect], state: &State, call: &FramedCall, choice: &str) -> Value {
    let FramedCall { kind, message, .. } = call;
    let nested = match kind.as_str() {
        "GAME_INVITATION" => &message["game_invitation"],
        _ => &message["parity_context"],
    };
    let read = if dialects.contains(&PlayerDialect::ReadsNested) { nested } else { message };
    let id = parameter!(dialects, KeepsId).unwrap_or(state.id());
    let about = json!({"match_id": text(read, "match_id"), "player_id": id});
    let (called, own) = match (kind.as_str(), parameter!(dialects, ChoiceUnder), parameter!(dialects, JoinsBriefly)) {
        ("GAME_INVITATION", _, Some("accepted")) => return json!({"accepted": true}),
        ("GAME_INVITATION", _, Some(word)) => return json!({ "status": word }),
        ("CHOOSE_PARITY_CALL", Some(called), _) => (called, with(about, json!({ "choice": choice }))),
        (kind, _, _) => usual(kind, dialects, about, id, choice),
    };
    if dialects.contains(&PlayerDialect::OkToNotices)
        && !["GAME_INVITATION", "CHOOSE_PARITY_CALL"].contains(&kind.as_str())
    {
        return json!({"status": "ok"});
    }
    let answer = envelope(called, &format!("player:{id}"), text(message, "conversation_id"));
    let stale = dialects.contains(&PlayerDialect::StaleToken);
    let token = if stale { state.first_token.as_str() } else { text(&state.admitted, "auth_token") };
    let answer = with(with(answer, json!({ "auth_token": token })), own);
    dialects.iter().fold(answer, |answer, dialect| in_dialect(dialect, answer, message))
}

/// The message type and its own fields.
fn usual(kind: &str, dialects: &[PlayerDialect], about: Value, id: &str, choice: &str) -> (&'static str, Value) {
    match kind {
        "GAME_INVITATION" => ("GAME_JOIN_ACK", with(about, json!({"arrival_timestamp": now(), "accept": true}))),
        "CHOOSE_PARITY_CALL" if dialects.contains(&PlayerDialect::ParityChoiceForm) => {
            ("PARITY_CHOICE", with(about, json!({"choice": choice.to_uppercase()})))
        }
        "CHOOSE_PARITY_CALL" => ("CHOOSE_PARITY_RESPONSE", with(about, json!({"parity_choice": choice}))),
        "ROUND_ANNOUNCEMENT" => ("ROUND_ANNOUNCEMENT_ACK", acknowledged(id)),
        "GAME_OVER" => ("GAME_OVER_ACK", acknowledged(id)),
        "GAME_ERROR" => ("GAME_ERROR_ACK", acknowledged(id)),
        "LEAGUE_STANDINGS_UPDATE" => ("STANDINGS_UPDATE_ACK", acknowledged(id)),
        "ROUND_COMPLETED" => ("ROUND_COMPLETED_ACK", acknowledged(id)),
        "LEAGUE_COMPLETED" => ("LEAGUE_COMPLETED_ACK", acknowledged(id)),
        _ => ("ACK", acknowledged(id)),
    }
}

fn acknowledged(id: &str) -> Value {
    json!({"status": "ACKNOWLEDGED", "player_id": id})
}

fn in_dialect(dialect: &PlayerDialect, answer: Value, call: &Value) -> Value {
    let has = |other: PlayerDialect| *dialect == other;
    if has(PlayerDialect::PlaceholderToken) {
        with(answer, json!({"auth_token": "token-placeholder"}))
    } else if has(PlayerDialect::EchoesToken) {
        with(answer, json!({"auth_token": call.get("auth_token")}))
    } else if has(PlayerDialect::OffsetTime) {
        with(answer, json!({"timestamp": now().replace('Z', "+00:00")}))
    } else if has(PlayerDialect::NoToken) {
        without(answer, &["auth_token"])
    } else if has(PlayerDialect::AnswersGameId) {
        renamed(answer, "match_id", "game_id")
    } else if has(PlayerDialect::AnswersType) {
        renamed(answer, "message_type", "type")
    } else if has(PlayerDialect::PlainSender) {
        let id = text(&answer, "player_id").to_owned();
        with(without(answer, &["player_id"]), json!({ "sender": id }))
    } else if has(PlayerDialect::NoEnvelope) {
        without(without(answer, &ENVELOPE), &["auth_token"])
    } else {
        answer
    }
}

fn renamed(answer: Value, field: &str, name: &str) -> Value {
    match answer.get(field).cloned() {
        Some(value) => with(without(answer, &[field]), json!({ name: value })),
        None => answer,
    }
}
