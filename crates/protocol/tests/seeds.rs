//! Every example of the five course documents: how it is read, or that it is refused.
//!
//! `tests/seeds/s0.json` … `s4.json` hold the cases. A case says what it `mirrors`; what is `posted` to `/mcp` (or `raw`, or to another
//! `path`), or `sent` as an answer; and the expected outcome:
//!
//! - `A choose_parity`: read in this frame as this method. ` E018 protocol` after it: the envelope check fails with that.
//! - `refused E003 match_id`, `refused -32601`: not read.
//! - `move odd`, `joined`, `error 12 E012` …: the meaning of an answer; `, token` if it has a credential.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, and so may what helps it")]

use league_protocol::answer::{JoinAnswer, MoveAnswer, ParsedAnswer, PeerError, RegistrationAnswer};
use league_protocol::error::RequestError;
use league_protocol::id::MatchId;
use league_protocol::quirk::Quirks;
use league_protocol::request::{self, Incoming, Refused, Request};
use league_protocol::table::{Access, Call};
use serde::Deserialize;
use serde_json::value::RawValue;

const MATCH: &str = "R2M3";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    mirrors: String,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    posted: Option<Box<RawValue>>,
    #[serde(default)]
    raw: Option<String>,
    #[serde(default)]
    answer_to: Option<String>,
    #[serde(default)]
    sent: Option<Box<RawValue>>,
    expect: String,
    #[serde(default)]
    quirks: Option<Vec<String>>,
}

fn fault(fault: &RequestError) -> String {
    let field = fault.field.as_deref().map(|field| format!(" {field}")).unwrap_or_default();
    match fault.code {
        // A number that the contracts define is part of the expected outcome.
        Some(code) if (1000..7000).contains(&fault.rpc) => format!("{} {}{field}", fault.rpc, code.as_str()),
        Some(code) => format!("{}{field}", code.as_str()),
        None => format!("{}{field}", fault.rpc),
    }
}

fn call(request: &Request<'_>) -> (String, Quirks) {
    let row = request.method().row();
    let mut outcome = format!("{} {}", request.frame, row.name);
    let mut quirks = Quirks::default();
    match request.check(false) {
        Ok(seen) => quirks = seen,
        Err(found) => return (format!("{outcome} {}", fault(&found)), quirks),
    }
    if row.access == Access::Token
        && let Err(found) = request.head.token(request.method())
    {
        outcome = format!("{outcome} {}", fault(&found));
    }
    if let Call::PostChoice(choice) = &request.call {
        let meant = choice.value(&request.head);
        outcome = format!("{outcome}, meant {}", meant.as_deref().unwrap_or("nothing"));
    }
    if !request.reply_to().expects_answer() {
        outcome.push_str(", nobody waits");
    }
    (outcome, quirks)
}

fn refused(refused: &Refused) -> (String, Quirks) {
    (format!("refused {}", fault(&refused.fault)), Quirks::default())
}

fn posted(path: Option<&str>, body: &[u8]) -> (String, Quirks) {
    if path == Some("/register") {
        return match request::read_registration(body) {
            Ok(request) => call(&request),
            Err(found) => refused(&found),
        };
    }
    match request::read(body) {
        Ok(Incoming::Call(request)) => call(&request),
        Ok(Incoming::Mcp(request)) => (format!("mcp {}", request.method), Quirks::default()),
        Ok(Incoming::Batch(parts)) => (format!("batch of {}", parts.len()), Quirks::default()),
        Err(found) => refused(&found),
    }
}

fn error(error: &PeerError) -> String {
    let number = error.number.map(|number| format!(" {number}")).unwrap_or_default();
    let code = error.code.as_deref().map(|code| format!(" {code}")).unwrap_or_default();
    let misunderstood = if error.is_misunderstanding() { ", misunderstood" } else { "" };
    format!("error{number}{code}{misunderstood}")
}

fn answered(question: &str, body: &[u8]) -> (String, Quirks) {
    let Ok(layers) = ParsedAnswer::parse(body) else { return ("unreadable".into(), Quirks::default()) };
    let match_id: MatchId = MATCH.parse().unwrap();
    let (meaning, quirks, token) = match question {
        "invitation" => {
            let reading = layers.join(&match_id);
            let meaning = match reading.answer {
                JoinAnswer::Joined { nonce } if nonce.as_bytes().is_empty() => "joined".into(),
                JoinAnswer::Joined { nonce } => format!("joined with {}", String::from_utf8_lossy(nonce.as_bytes())),
                JoinAnswer::Declined => "declined".into(),
                JoinAnswer::Error(found) => error(&found),
                JoinAnswer::Nothing => "nothing".into(),
            };
            (meaning, reading.quirks, reading.token)
        }
        "choice" => {
            let reading = layers.parity(&match_id);
            let meaning = match reading.answer {
                MoveAnswer::Move(played) => format!("move {played}"),
                MoveAnswer::Invalid(_) => "invalid".into(),
                MoveAnswer::Error(found) => error(&found),
                MoveAnswer::Nothing => "nothing".into(),
            };
            (meaning, reading.quirks, reading.token)
        }
        "registration" => {
            let reading = layers.registration();
            let meaning = match reading.answer {
                RegistrationAnswer::Accepted { player_id, referee_id, league_id, .. } => {
                    let names = [player_id.map(|id| id.to_string()), referee_id.map(|id| id.to_string())];
                    let named = names.into_iter().chain([league_id.map(|id| id.to_string())]).flatten();
                    format!("accepted {}", named.collect::<Vec<_>>().join(" "))
                }
                RegistrationAnswer::Rejected { .. } => "rejected".into(),
                RegistrationAnswer::Error(found) => error(&found),
                RegistrationAnswer::Nothing => "nothing".into(),
            };
            (meaning, reading.quirks, reading.token)
        }
        "notice" => (layers.error().map_or_else(|| "heard".into(), |found| error(&found)), Quirks::default(), None),
        other => panic!("nobody asks for {other}"),
    };
    (if token.is_some() { format!("{meaning}, token") } else { meaning }, quirks)
}

fn play(document: &str, cases: &str) {
    let cases: Vec<Case> = serde_json::from_str(cases).unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        let (outcome, seen) = match (&case.posted, &case.raw, &case.sent) {
            (Some(message), None, None) => posted(case.path.as_deref(), message.get().as_bytes()),
            (None, Some(text), None) => posted(case.path.as_deref(), text.as_bytes()),
            (None, None, Some(answer)) => answered(case.answer_to.as_deref().unwrap(), answer.get().as_bytes()),
            _ => panic!("{}: posted, raw or sent", case.mirrors),
        };
        let name = |quirk| serde_json::to_value(quirk).unwrap().as_str().unwrap().to_owned();
        let seen: std::collections::BTreeSet<String> = seen.iter().map(name).collect();
        let quirks = case.quirks.as_ref().map(|quirks| quirks.iter().cloned().collect());
        if outcome != case.expect || quirks.is_some_and(|quirks| seen != quirks) {
            wrong.push(format!(
                "{}\n  wanted {} {:?}\n  got    {outcome} {seen:?}",
                case.mirrors, case.expect, case.quirks
            ));
        }
    }
    assert!(wrong.is_empty(), "{document}: {} of {} cases\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn the_interface_document_is_understood() {
    play("S0", include_str!("seeds/s0.json"));
}

#[test]
fn the_design_document_is_understood() {
    play("S1", include_str!("seeds/s1.json"));
}

#[test]
fn the_player_contracts_are_understood() {
    play("S2", include_str!("seeds/s2.json"));
}

#[test]
fn the_message_contracts_are_understood() {
    play("S3", include_str!("seeds/s3.json"));
}

#[test]
fn the_overview_is_understood() {
    play("S4", include_str!("seeds/s4.json"));
}
