//! Describes a match for people: each question, its answer and the time. The command line and the match page show it.

use std::time::Duration;

use league_protocol::answer::{MoveAnswer, ParsedAnswer};
use league_protocol::problem::{Problem, QuestionKind, quoted};
use league_protocol::time::Timestamp;

use super::match_file::{CallReceipt, Direction, MatchFile, TranscriptEntry};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NarrativeStep {
    pub at: Timestamp,
    /// The place of the question in the transcript.
    pub entry: usize,
    pub player: String,
    pub text: String,
    pub wrong: bool,
}

pub fn steps(file: &MatchFile, name: impl Fn(&str) -> String) -> Vec<NarrativeStep> {
    let mut steps = Vec::new();
    for (place, call) in file.transcript.iter().enumerate() {
        if call.direction == Direction::Received {
            // Its question describes it, or the player posted it unasked.
            continue;
        }
        let player = call.to.to_string();
        if call.is_note() {
            let text = String::from_utf8_lossy(&body_of(call)).into_owned();
            steps.push(NarrativeStep { at: call.at, entry: place, player, text, wrong: false });
            continue;
        }
        // Collects the answer to this call and the messages that the player posted before the next call.
        let behind = file.transcript[place + 1..].iter().filter(|next| next.from == call.to || next.to == call.to);
        let answers: Vec<&TranscriptEntry> = behind.take_while(|next| next.direction == Direction::Received).collect();
        let right_answer = answers.iter().find(|answer| answer.refused.is_none() && is_right(file, call, answer));
        let answer = right_answer.or(answers.first()).copied();
        let (text, wrong) = exchange(file, &name(&player), call, answer);
        steps.push(NarrativeStep { at: call.at, entry: place, player, text, wrong });
    }
    steps
}

fn is_right(file: &MatchFile, call: &TranscriptEntry, answer: &TranscriptEntry) -> bool {
    let question = question_of(call).map(|(question, _)| question);
    question.is_some_and(|question| Problem::of_answer(question, &file.match_id, 200, &body_of(answer)).is_none())
}

fn question_of(call: &TranscriptEntry) -> Option<(QuestionKind, &'static str)> {
    match call.message_type.as_str() {
        "GAME_INVITATION" => Some((QuestionKind::Join, "was invited")),
        "CHOOSE_PARITY_CALL" => Some((QuestionKind::Choice, "was asked for a choice")),
        "GAME_MOVE_CALL" => Some((QuestionKind::Move, "was asked for a move")),
        _ => None,
    }
}

fn exchange(file: &MatchFile, name: &str, call: &TranscriptEntry, answer: Option<&TranscriptEntry>) -> (String, bool) {
    let Some((question, asked)) = question_of(call) else {
        let what = match call.message_type.as_str() {
            "GAME_ERROR" => String::from("was told what was wrong"),
            "GAME_OVER" => String::from("was told the result"),
            other => format!("was sent {}", quoted(other)),
        };
        let confirmed = if answer.is_some() { "" } else { ", and did not confirm it" };
        return (format!("{name} {what}{confirmed}"), false);
    };
    let Some(answer) = answer else {
        let known = file.problems.0.iter().find(|(player, _)| player.as_str() == call.to).map(|(_, problem)| problem);
        let problem = call.receipt.map(|receipt| unanswered(&receipt, known));
        let reason = problem.map_or_else(|| String::from("no answer is kept"), |problem| problem.sentence_about(name));
        return (format!("{name} {asked}: {reason}"), true);
    };
    let body = body_of(answer);
    let after = answer.receipt.and_then(|receipt| receipt.last_byte_ms).map(|ms| format!(" after {ms} ms"));
    let after = after.unwrap_or_default();
    match Problem::of_answer(question, &file.match_id, 200, &body) {
        Some(problem) => (format!("{name} {asked}: {}{after}", problem.sentence_about(name)), true),
        None => (format!("{name} {asked}: {}{after}", right(question, file, &body)), false),
    }
}

/// The file keeps only the time of each call; `known` is the problem of the last one.
fn unanswered(receipt: &CallReceipt, known: Option<&Problem>) -> Problem {
    let is_unreachable =
        |problem: &&Problem| matches!(problem, Problem::NotListening { .. } | Problem::Unreachable { .. });
    match receipt.given_up_ms {
        Some(given_up) if given_up < receipt.limit_ms => {
            known.filter(is_unreachable).cloned().unwrap_or(Problem::HungUp)
        }
        Some(_) | None => Problem::silent(Duration::from_millis(receipt.limit_ms)),
    }
}

fn right(question: QuestionKind, file: &MatchFile, body: &[u8]) -> String {
    let layers = match (question, ParsedAnswer::parse(body)) {
        (QuestionKind::Join, _) | (_, Err(_)) => return String::from("joined"),
        (QuestionKind::Choice | QuestionKind::Move, Ok(layers)) => layers,
    };
    let reading =
        if question == QuestionKind::Choice { layers.parity(&file.match_id) } else { layers.game_move(&file.match_id) };
    match reading.answer {
        MoveAnswer::Move(text) => format!("answered `{}`", quoted(&text)),
        MoveAnswer::Invalid(_) | MoveAnswer::Error(_) | MoveAnswer::Nothing => String::from("answered"),
    }
}

/// An answer that was not JSON is stored as a JSON string.
fn body_of(answer: &TranscriptEntry) -> Vec<u8> {
    let raw = answer.message().get();
    serde_json::from_str::<String>(raw).map_or_else(|_| raw.as_bytes().to_vec(), String::into_bytes)
}

pub fn with_names(text: &str, file: &MatchFile, name: impl Fn(&str) -> String) -> String {
    let ids = [file.player_a_id.as_str(), file.player_b_id.as_str()];
    let (mut named, mut word) = (String::with_capacity(text.len()), String::new());
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
            word.push(c);
            continue;
        }
        if ids.contains(&word.as_str()) {
            named.push_str(&name(&word));
        } else {
            named.push_str(&word);
        }
        word.clear();
        named.push(c);
    }
    named.pop();
    named
}
