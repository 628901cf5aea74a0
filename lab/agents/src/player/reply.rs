//! A player's answer to a message, in its dialects.

use serde_json::{Value, json};

use super::dialect::PlayerDialect;
use super::state::State;
use crate::frame::Asked;
use crate::message::{envelope, now, text, with, without};

const ENVELOPE: [&str; 5] = ["protocol", "message_type", "sender", "timestamp", "conversation_id"];

pub(crate) fn to(dialects: &[PlayerDialect], state: &State, asked: &Asked, choice: &str) -> Value {
    let Asked { kind, message, .. } = asked;
    let nested = match kind.as_str() {
        "GAME_INVITATION" => &message["game_invitation"],
        _ => &message["parity_context"],
    };
    let read = if dialects.contains(&PlayerDialect::ReadsNested) { nested } else { message };
    let id = dialects.iter().find_map(kept_id).unwrap_or(state.id());
    let about = json!({"match_id": text(read, "match_id"), "player_id": id});
    let under = dialects
        .iter()
        .find_map(|dialect| if let PlayerDialect::ChoiceUnder(called) = dialect { Some(*called) } else { None });
    let brief = dialects
        .iter()
        .find_map(|dialect| if let PlayerDialect::JoinsBriefly(word) = dialect { Some(*word) } else { None });
    let (called, own) = match (kind.as_str(), under, brief) {
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
    let letter = envelope(called, &format!("player:{id}"), text(message, "conversation_id"));
    let stale = dialects.contains(&PlayerDialect::StaleToken);
    let token = if stale { state.first_token.as_str() } else { text(&state.admitted, "auth_token") };
    let letter = with(with(letter, json!({ "auth_token": token })), own);
    dialects.iter().fold(letter, |letter, dialect| dressed(dialect, letter, message))
}

/// The message type and its own fields.
fn usual(kind: &str, dialects: &[PlayerDialect], about: Value, id: &str, choice: &str) -> (&'static str, Value) {
    match kind {
        "GAME_INVITATION" => ("GAME_JOIN_ACK", with(about, json!({"arrival_timestamp": now(), "accept": true}))),
        "CHOOSE_PARITY_CALL" if dialects.contains(&PlayerDialect::ParityChoiceForm) => {
            ("PARITY_CHOICE", with(about, json!({"choice": choice.to_uppercase()})))
        }
        "CHOOSE_PARITY_CALL" => ("CHOOSE_PARITY_RESPONSE", with(about, json!({"parity_choice": choice}))),
        "ROUND_ANNOUNCEMENT" => ("ROUND_ANNOUNCEMENT_ACK", heard(id)),
        "GAME_OVER" => ("GAME_OVER_ACK", heard(id)),
        "GAME_ERROR" => ("GAME_ERROR_ACK", heard(id)),
        "LEAGUE_STANDINGS_UPDATE" => ("STANDINGS_UPDATE_ACK", heard(id)),
        "ROUND_COMPLETED" => ("ROUND_COMPLETED_ACK", heard(id)),
        "LEAGUE_COMPLETED" => ("LEAGUE_COMPLETED_ACK", heard(id)),
        _ => ("ACK", heard(id)),
    }
}

fn heard(id: &str) -> Value {
    json!({"status": "ACKNOWLEDGED", "player_id": id})
}

pub(crate) fn kept_id(dialect: &PlayerDialect) -> Option<&'static str> {
    if let PlayerDialect::KeepsId(id) = dialect { Some(id) } else { None }
}

fn dressed(dialect: &PlayerDialect, letter: Value, question: &Value) -> Value {
    if *dialect == PlayerDialect::PlaceholderToken {
        return with(letter, json!({"auth_token": "token-placeholder"}));
    }
    if *dialect == PlayerDialect::EchoesToken {
        return with(letter, json!({"auth_token": question.get("auth_token")}));
    }
    if *dialect == PlayerDialect::OffsetTime {
        return with(letter, json!({"timestamp": now().replace('Z', "+00:00")}));
    }
    if *dialect == PlayerDialect::NoToken {
        return without(letter, &["auth_token"]);
    }
    if *dialect == PlayerDialect::AnswersGameId {
        return renamed(letter, "match_id", "game_id");
    }
    if *dialect == PlayerDialect::AnswersType {
        return renamed(letter, "message_type", "type");
    }
    if *dialect == PlayerDialect::PlainSender {
        let id = text(&letter, "player_id").to_owned();
        return with(without(letter, &["player_id"]), json!({ "sender": id }));
    }
    if *dialect == PlayerDialect::NoEnvelope {
        return without(without(letter, &ENVELOPE), &["auth_token"]);
    }
    letter
}

fn renamed(letter: Value, field: &str, name: &str) -> Value {
    match letter.get(field).cloned() {
        Some(value) => with(without(letter, &[field]), json!({ name: value })),
        None => letter,
    }
}
