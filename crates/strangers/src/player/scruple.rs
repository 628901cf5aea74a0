//! What a player refuses although it understood it.

use std::time::Instant;

use serde_json::Value;

use super::habit::Habit;
use super::state::State;
use crate::frame::{Asked, Refusal};
use crate::letter::text;

/// What is wrong with the wrapping, if anything.
pub(crate) fn about_the_frame(habits: &[Habit], body: &Value) -> Option<Refusal> {
    let extra = |key: &String| !["jsonrpc", "method", "params", "id"].contains(&key.as_str());
    let odd_id = body.get("id").is_some_and(|id| !id.is_i64());
    let extra_key = body.as_object().into_iter().flat_map(|fields| fields.keys()).any(extra);
    if habits.contains(&Habit::IntegerIds) && odd_id {
        return Some(Refusal::new(-32600, "Invalid Request: id must be an integer"));
    }
    if habits.contains(&Habit::NoExtraKeys) && extra_key {
        return Some(Refusal::new(-32600, "Invalid Request: extra fields not permitted"));
    }
    None
}

/// What is wrong with the message, or with its time, if anything.
pub(crate) fn about_the_message(habits: &[Habit], state: &mut State, asked: &Asked) -> Option<Refusal> {
    // What everybody misses who looks for it in the wrong place.
    let question = ["GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"].contains(&asked.kind.as_str());
    if question && text(&asked.message, "match_id").is_empty() {
        return Some(Refusal::new(-32602, "Invalid params: match_id is required"));
    }
    habits.iter().find_map(|habit| objection(habit, state, asked))
}

fn objection(habit: &Habit, state: &mut State, Asked { kind, message, .. }: &Asked) -> Option<Refusal> {
    let question = kind == "GAME_INVITATION" || kind == "CHOOSE_PARITY_CALL";
    let refuse = |when: bool, code: i64, why: &str| when.then(|| Refusal::new(code, why));
    match habit {
        Habit::WholeSeconds => {
            refuse(text(message, "timestamp").contains('.'), -32602, "Invalid params: timestamp does not match format")
        }
        Habit::WantsToken => refuse(text(message, "auth_token").is_empty(), -32001, "E011: auth_token is missing"),
        Habit::WantsColon => {
            refuse(!text(message, "sender").contains(':'), -32602, "Invalid params: sender must be type:id")
        }
        Habit::ReadsNested if kind == "GAME_INVITATION" => {
            let missing = text(&message["game_invitation"], "match_id").is_empty();
            refuse(missing, -32602, "Invalid params: game_invitation.match_id is required")
        }
        Habit::ReadsNested if kind == "CHOOSE_PARITY_CALL" => {
            let missing = text(&message["parity_context"], "match_id").is_empty();
            refuse(missing, -32602, "Invalid params: parity_context.match_id is required")
        }
        Habit::WantsGameId => {
            refuse(question && text(message, "game_id").is_empty(), -32602, "Invalid params: game_id is required")
        }
        Habit::WantsTheEnd if kind == "GAME_INVITATION" => {
            let other = state.playing.as_ref().is_some_and(|playing| playing != text(message, "match_id"));
            refuse(other, -32000, "Invalid state: still in another match")
        }
        Habit::RateLimit(least) => {
            let soon = state.called.replace(Instant::now()).is_some_and(|last| last.elapsed() < *least);
            refuse(soon, -32000, "Rate limit exceeded")
        }
        Habit::BusyAtFirst => {
            refuse(state.refused_once.insert(kind.clone()), -32000, "Too many requests: rate limit exceeded")
        }
        Habit::ReadsNested
        | Habit::WantsTheEnd
        | Habit::IntegerIds
        | Habit::NoExtraKeys
        | Habit::OtherToolNames
        | Habit::FieldsOnly
        | Habit::UnderOneKey(_)
        | Habit::ListensLater(_)
        | Habit::RegistersOften(_)
        | Habit::RegistersUnderData
        | Habit::RegistersBriefly
        | Habit::Path(_)
        | Habit::NoPath
        | Habit::LeavesPathOut
        | Habit::Localhost
        | Habit::KeepsId(_)
        | Habit::PostsAfterwards
        | Habit::PostsBefore
        | Habit::OkToNotices
        | Habit::PlaceholderToken
        | Habit::EchoesToken
        | Habit::NoToken
        | Habit::StaleToken
        | Habit::ChoiceUnder(_)
        | Habit::JoinsBriefly(_)
        | Habit::AnswersGameId
        | Habit::AnswersType
        | Habit::AnswersInData
        | Habit::PlainSender
        | Habit::NoEnvelope
        | Habit::OffsetTime
        | Habit::AnswersInParams
        | Habit::AnswersBare
        | Habit::ParityChoiceForm
        | Habit::NullError
        | Habit::Status400
        | Habit::ClosesConnections
        | Habit::LeavesAtTheEnd
        | Habit::HangsUpAtTheEnd => None,
    }
}
