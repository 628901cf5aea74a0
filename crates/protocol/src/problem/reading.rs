use serde_json::{Map, Value};
use smol_str::{SmolStr, format_smolstr};

use super::{Problem, QuestionKind, quoted};
use crate::answer::{JoinAnswer, MoveAnswer, ParsedAnswer};
use crate::id::MatchId;
use crate::parity::Parity;
use crate::request::MAX_BODY;

const DEPTH: usize = 6;

impl Problem {
    /// Reads again what [`ParsedAnswer`] refused. Only wrong answers come here, so speed does not matter.
    pub fn of_answer(question: QuestionKind, match_id: &MatchId, status: u16, body: &[u8]) -> Option<Self> {
        if body.len() > MAX_BODY {
            return Some(Self::TooLong);
        }
        let Ok(layers) = ParsedAnswer::parse(body) else { return Some(not_an_object(status, body)) };
        let mut whole: Value = serde_json::from_slice(body).unwrap_or_default();
        unfold(&mut whole, DEPTH);
        match question {
            QuestionKind::Join => match layers.join(match_id).answer {
                JoinAnswer::Joined { .. } => None,
                JoinAnswer::Declined => Some(Self::Declined),
                JoinAnswer::Error(error) => Some(refused(question, match_id, status, &whole, &error)),
                JoinAnswer::Nothing => Some(no_join(status, &whole)),
            },
            QuestionKind::Choice => match layers.parity(match_id).answer {
                MoveAnswer::Move(_) => None,
                MoveAnswer::Error(error) => Some(refused(question, match_id, status, &whole, &error)),
                MoveAnswer::Invalid(_) | MoveAnswer::Nothing => Some(no_choice(status, &whole)),
            },
            QuestionKind::Move => match layers.game_move(match_id).answer {
                MoveAnswer::Move(_) => None,
                MoveAnswer::Error(error) => Some(refused(question, match_id, status, &whole, &error)),
                MoveAnswer::Invalid(_) | MoveAnswer::Nothing => Some(no_move(status, &whole)),
            },
        }
    }

    pub fn of_choice(text: &str) -> Option<Self> {
        (Parity::exact(text).is_none()).then(|| wrong_choice("parity_choice", text))
    }
}

fn not_an_object(status: u16, body: &[u8]) -> Problem {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    let begins = |mark: &str| text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark));
    if begins("<!doctype") || begins("<html") {
        // Servers also send pages for a crash or a missing path; then the status says more.
        return if (200..300).contains(&status) { Problem::Html { status } } else { Problem::Status { status } };
    }
    if (200..300).contains(&status) {
        Problem::NotJson { status, found: quoted(text) }
    } else {
        Problem::Status { status }
    }
}

fn refused(
    question: QuestionKind,
    match_id: &MatchId,
    status: u16,
    whole: &Value,
    error: &crate::answer::PeerError,
) -> Problem {
    if objects(whole).iter().any(|object| names_other(object, match_id)) {
        return Problem::OtherMatch { wanted: SmolStr::new(match_id.as_str()) };
    }
    if error.words.is_empty() && error.number.is_none() && error.code.is_none() && !(200..300).contains(&status) {
        return Problem::Status { status };
    }
    Problem::error(question, error)
}

fn names_other(object: &Map<String, Value>, match_id: &MatchId) -> bool {
    let named = ["match_id", "game_id"].into_iter().find_map(|field| object.get(field)?.as_str());
    named.is_some_and(|named| named != match_id.as_str())
}

fn no_join(status: u16, whole: &Value) -> Problem {
    let objects = objects(whole);
    for field in ["accept", "accepted"] {
        if let Some(found) = objects.iter().find_map(|object| object.get(field)).filter(|found| !found.is_null()) {
            let wanted = SmolStr::new_static("`true` or `false`");
            return Problem::WrongValue { field: SmolStr::new_static(field), found: shown(found), wanted };
        }
    }
    nothing(QuestionKind::Join, status, whole)
}

fn no_choice(status: u16, whole: &Value) -> Problem {
    let objects = objects(whole);
    let texts: Vec<&str> = ["parity_choice", "choice"]
        .into_iter()
        .flat_map(|field| objects.iter().filter_map(move |object| object.get(field)?.as_str()))
        .collect();
    let mut legal: Vec<&str> = texts.iter().copied().filter(|text| Parity::exact(text).is_some()).collect();
    legal.dedup();
    if legal.len() > 1 {
        return Problem::TwoAnswers;
    }
    for field in ["parity_choice", "choice"] {
        match objects.iter().find_map(|object| object.get(field)) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => {
                return match Parity::exact(text) {
                    // The value is right, so another layer contradicts it.
                    Some(_) if texts.iter().any(|other| other != text) => Problem::TwoAnswers,
                    Some(_) => nothing(QuestionKind::Choice, status, whole),
                    None => wrong_choice(field, text),
                };
            }
            Some(other) => return wrong_choice(field, &shown(other)),
        }
    }
    // The value exists under another name.
    let named = |object: &&Map<String, Value>| {
        let is_choice = |value: &Value| value.as_str().is_some_and(|text| Parity::folded(text.trim()).is_some());
        object.iter().find(|(_, value)| is_choice(value)).map(|(name, _)| quoted(name))
    };
    if let Some(found) = objects.iter().find_map(named) {
        return Problem::WrongField { found, wanted: SmolStr::new_static("parity_choice") };
    }
    nothing(QuestionKind::Choice, status, whole)
}

fn wrong_choice(field: &'static str, found: &str) -> Problem {
    let wanted = match Parity::folded(found.trim()) {
        Some(parity) => format_smolstr!("`{parity}`"),
        None => SmolStr::new_static("`even` or `odd`"),
    };
    Problem::WrongValue { field: SmolStr::new_static(field), found: quoted(found), wanted }
}

fn no_move(status: u16, whole: &Value) -> Problem {
    match objects(whole).iter().find_map(|object| object.get("move")).filter(|found| !found.is_null()) {
        Some(found) => Problem::WrongValue {
            field: SmolStr::new_static("move"),
            found: shown(found),
            wanted: SmolStr::new_static("the move as a text"),
        },
        None => nothing(QuestionKind::Move, status, whole),
    }
}

fn nothing(question: QuestionKind, status: u16, whole: &Value) -> Problem {
    if !(200..300).contains(&status) {
        return Problem::Status { status };
    }
    let answers = |object: &&Map<String, Value>| {
        let named = ["message_type", "type"].into_iter().find_map(|field| object.get(field)?.as_str());
        named.is_some_and(|named| {
            let named = named.to_ascii_uppercase();
            named == question.answer() || named.contains("PARITY") || named.contains("CHOICE") || named.contains("JOIN")
        })
    };
    if objects(whole).iter().any(answers) {
        let (field, wanted) = (question.field(), question.wanted());
        return Problem::NoField { field: SmolStr::new_static(field), wanted: SmolStr::new_static(wanted) };
    }
    Problem::OnlyAcknowledged { wanted: SmolStr::new_static(question.answer()) }
}

/// Replaces texts that contain JSON, such as MCP's text blocks, by their value.
fn unfold(value: &mut Value, depth: usize) {
    if depth == 0 {
        return;
    }
    match value {
        Value::String(text) if text.trim_start().starts_with('{') => {
            if let Ok(inner) = serde_json::from_str::<Value>(text) {
                *value = inner;
                unfold(value, depth - 1);
            }
        }
        Value::Object(object) => object.values_mut().for_each(|inner| unfold(inner, depth - 1)),
        Value::Array(list) => list.iter_mut().for_each(|inner| unfold(inner, depth - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn shown(value: &Value) -> SmolStr {
    match value {
        Value::String(text) => quoted(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            quoted(&value.to_string())
        }
    }
}

fn objects(whole: &Value) -> Vec<&Map<String, Value>> {
    let mut found = Vec::new();
    let mut level = vec![whole];
    for _ in 0..DEPTH {
        let mut next = Vec::new();
        for value in level {
            match value {
                Value::Object(object) => {
                    found.push(object);
                    // Texts inside `error` are not answers.
                    next.extend(object.iter().filter(|(name, _)| *name != "error").map(|(_, inner)| inner));
                }
                Value::Array(list) => next.extend(list),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        level = next;
    }
    found
}
