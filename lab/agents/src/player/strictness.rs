//! What a player refuses although it understood it.

use std::time::Instant;

use serde_json::Value;

use super::dialect::PlayerDialect;
use super::state::State;
use crate::frame::{Asked, Refusal};
use crate::message::text;

/// What is wrong with the wrapping, if anything.
pub(crate) fn about_the_frame(habits: &[PlayerDialect], body: &Value) -> Option<Refusal> {
    let extra = |key: &String| !["jsonrpc", "method", "params", "id"].contains(&key.as_str());
    let odd_id = body.get("id").is_some_and(|id| !id.is_i64());
    let extra_key = body.as_object().into_iter().flat_map(|fields| fields.keys()).any(extra);
    if habits.contains(&PlayerDialect::IntegerIds) && odd_id {
        return Some(Refusal::new(-32600, "Invalid Request: id must be an integer"));
    }
    if habits.contains(&PlayerDialect::NoExtraKeys) && extra_key {
        return Some(Refusal::new(-32600, "Invalid Request: extra fields not permitted"));
    }
    None
}

/// What is wrong with the message, or with its time, if anything.
pub(crate) fn about_the_message(habits: &[PlayerDialect], state: &mut State, asked: &Asked) -> Option<Refusal> {
    // What everybody misses who looks for it in the wrong place.
    let question = ["GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"].contains(&asked.kind.as_str());
    if question && text(&asked.message, "match_id").is_empty() {
        return Some(Refusal::new(-32602, "Invalid params: match_id is required"));
    }
    habits.iter().find_map(|habit| objection(habit, state, asked))
}

fn objection(habit: &PlayerDialect, state: &mut State, Asked { kind, message, .. }: &Asked) -> Option<Refusal> {
    let question = kind == "GAME_INVITATION" || kind == "CHOOSE_PARITY_CALL";
    let refuse = |when: bool, code: i64, why: &str| when.then(|| Refusal::new(code, why));
    match habit {
        PlayerDialect::WholeSeconds => {
            refuse(text(message, "timestamp").contains('.'), -32602, "Invalid params: timestamp does not match format")
        }
        PlayerDialect::WantsToken => {
            refuse(text(message, "auth_token").is_empty(), -32001, "E011: auth_token is missing")
        }
        PlayerDialect::WantsColon => {
            refuse(!text(message, "sender").contains(':'), -32602, "Invalid params: sender must be type:id")
        }
        PlayerDialect::ReadsNested if kind == "GAME_INVITATION" => {
            let missing = text(&message["game_invitation"], "match_id").is_empty();
            refuse(missing, -32602, "Invalid params: game_invitation.match_id is required")
        }
        PlayerDialect::ReadsNested if kind == "CHOOSE_PARITY_CALL" => {
            let missing = text(&message["parity_context"], "match_id").is_empty();
            refuse(missing, -32602, "Invalid params: parity_context.match_id is required")
        }
        PlayerDialect::WantsGameId => {
            refuse(question && text(message, "game_id").is_empty(), -32602, "Invalid params: game_id is required")
        }
        PlayerDialect::WantsTheEnd if kind == "GAME_INVITATION" => {
            let other = state.playing.as_ref().is_some_and(|playing| playing != text(message, "match_id"));
            refuse(other, -32000, "Invalid state: still in another match")
        }
        PlayerDialect::RateLimit(least) => {
            let soon = state.called.replace(Instant::now()).is_some_and(|last| last.elapsed() < *least);
            refuse(soon, -32000, "Rate limit exceeded")
        }
        PlayerDialect::BusyAtFirst => {
            refuse(state.refused_once.insert(kind.clone()), -32000, "Too many requests: rate limit exceeded")
        }
        PlayerDialect::ReadsNested
        | PlayerDialect::WantsTheEnd
        | PlayerDialect::IntegerIds
        | PlayerDialect::NoExtraKeys
        | PlayerDialect::OtherToolNames
        | PlayerDialect::FieldsOnly
        | PlayerDialect::UnderOneKey(_)
        | PlayerDialect::ListensLater(_)
        | PlayerDialect::RegistersOften(_)
        | PlayerDialect::RegistersUnderData
        | PlayerDialect::RegistersBriefly
        | PlayerDialect::Path(_)
        | PlayerDialect::NoPath
        | PlayerDialect::LeavesPathOut
        | PlayerDialect::Localhost
        | PlayerDialect::KeepsId(_)
        | PlayerDialect::PostsAfterwards
        | PlayerDialect::PostsBefore
        | PlayerDialect::OkToNotices
        | PlayerDialect::PlaceholderToken
        | PlayerDialect::EchoesToken
        | PlayerDialect::NoToken
        | PlayerDialect::StaleToken
        | PlayerDialect::ChoiceUnder(_)
        | PlayerDialect::JoinsBriefly(_)
        | PlayerDialect::AnswersGameId
        | PlayerDialect::AnswersType
        | PlayerDialect::AnswersInData
        | PlayerDialect::PlainSender
        | PlayerDialect::NoEnvelope
        | PlayerDialect::OffsetTime
        | PlayerDialect::AnswersInParams
        | PlayerDialect::AnswersBare
        | PlayerDialect::ParityChoiceForm
        | PlayerDialect::NullError
        | PlayerDialect::Status400
        | PlayerDialect::ClosesConnections
        | PlayerDialect::AcceptsBatches
        | PlayerDialect::RefusesBatches
        | PlayerDialect::LeavesAtTheEnd
        | PlayerDialect::HangsUpAtTheEnd => None,
    }
}
