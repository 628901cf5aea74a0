//! What a player refuses.

use std::time::Instant;

use serde_json::Value;

use super::dialect::PlayerDialect;
use super::state::State;
use crate::frame::{FramedCall, Refusal};
use crate::message::text;

pub(crate) fn about_the_frame(dialects: &[PlayerDialect], body: &Value) -> Option<Refusal> {
    let extra = |key: &String| !["jsonrpc", "method", "params", "id"].contains(&key.as_str());
    let odd_id = body.get("id").is_some_and(|id| !id.is_i64());
    let extra_key = body.as_object().into_iter().flat_map(|fields| fields.keys()).any(extra);
    if dialects.contains(&PlayerDialect::IntegerIds) && odd_id {
        return Some(Refusal::new(-32600, "Invalid Request: id must be an integer"));
    }
    if dialects.contains(&PlayerDialect::NoExtraKeys) && extra_key {
        return Some(Refusal::new(-32600, "Invalid Request: extra fields not permitted"));
    }
    None
}

/// `None` if it accepts the message.
pub(crate) fn about_the_message(dialects: &[PlayerDialect], state: &mut State, call: &FramedCall) -> Option<Refusal> {
    // A player that looks in the wrong place finds no match.
    let question = ["GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"].contains(&call.kind.as_str());
    if question && text(&call.message, "match_id").is_empty() {
        return Some(Refusal::new(-32602, "Invalid params: match_id is required"));
    }
    dialects.iter().find_map(|dialect| objection(dialect, state, call))
}

fn objection(
    dialect: &PlayerDialect,
    state: &mut State,
    FramedCall { kind, message, .. }: &FramedCall,
) -> Option<Refusal> {
    let (is_invitation, is_choice) = (kind == "GAME_INVITATION", kind == "CHOOSE_PARITY_CALL");
    let is_question = is_invitation || is_choice;
    let refuse = |when: bool, code: i64, why: &str| when.then(|| Refusal::new(code, why));
    if let PlayerDialect::RateLimit(least) = dialect {
        let soon = state.called.replace(Instant::now()).is_some_and(|last| last.elapsed() < *least);
        return refuse(soon, -32000, "Rate limit exceeded");
    }
    if *dialect == PlayerDialect::BusyAtFirst {
        return refuse(state.refused_once.insert(kind.clone()), -32000, "Too many requests: rate limit exceeded");
    }
    let other_match = || state.playing.as_ref().is_some_and(|playing| playing != text(message, "match_id"));
    let lacks = |part: &str| text(&message[part], "match_id").is_empty();
    let (sender, token) = (text(message, "sender"), text(message, "auth_token"));
    if *dialect == PlayerDialect::WantsToken {
        return refuse(token.is_empty(), -32001, "E011: auth_token is missing");
    }
    if *dialect == PlayerDialect::WantsTheEnd {
        return refuse(is_invitation && other_match(), -32000, "Invalid state: still in another match");
    }
    let (no_invitation, no_context) = (lacks("game_invitation"), lacks("parity_context"));
    let invalid = [
        (PlayerDialect::WholeSeconds, text(message, "timestamp").contains('.'), "timestamp does not match format"),
        (PlayerDialect::WantsColon, !sender.contains(':'), "sender must be type:id"),
        (PlayerDialect::ReadsNested, is_invitation && no_invitation, "game_invitation.match_id is required"),
        (PlayerDialect::ReadsNested, is_choice && no_context, "parity_context.match_id is required"),
        (PlayerDialect::WantsGameId, is_question && text(message, "game_id").is_empty(), "game_id is required"),
    ];
    let (_, _, why) = invalid.into_iter().find(|(known, when, _)| known == dialect && *when)?;
    Some(Refusal::new(-32602, format!("Invalid params: {why}")))
}
