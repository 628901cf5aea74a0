use super::*;
use crate::id::MatchId;
use serde_json::{Value, json};

fn wrong(question: QuestionKind, status: u16, body: &Value) -> Problem {
    let body = serde_json::to_vec(body).unwrap();
    let match_id: MatchId = "R1M1".parse().unwrap();
    Problem::of_answer(question, &match_id, status, &body).expect("this answer is wrong")
}

fn rpc(result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "result": result})
}

fn choice(body: &Value) -> String {
    wrong(QuestionKind::Choice, 200, &rpc(body)).to_string()
}

#[test]
fn a_wrong_choice_is_quoted_with_the_right_one() {
    for (sent, sentence) in [
        (json!({"parity_choice": "ODD"}), "you sent `ODD`; send `odd`"),
        (json!({"parity_choice": " Even\n"}), "you sent ` Even `; send `even`"),
        (json!({"parity_choice": "maybe"}), "you sent `maybe`; send `even` or `odd`"),
        (json!({"parity_choice": 7}), "you sent `7`; send `even` or `odd`"),
        (json!({"parity_choice": true}), "you sent `true`; send `even` or `odd`"),
        (json!({"message_type": "CHOOSE_PARITY_RESPONSE", "choice": "ODD"}), "you sent `ODD`; send `odd`"),
    ] {
        assert_eq!(choice(&sent), sentence, "{sent}");
    }
}

#[test]
fn a_choice_in_a_wrong_field_is_reported_with_the_right_field_name() {
    for name in ["parity", "answer", "move", "decision", "parityChoice"] {
        let sentence = format!("you sent `{name}`; call the field `parity_choice`");
        assert_eq!(choice(&json!({"message_type": "CHOOSE_PARITY_RESPONSE", name: "odd"})), sentence);
        let text = json!({"message_type": "CHOOSE_PARITY_RESPONSE", name: "odd"}).to_string();
        assert_eq!(choice(&json!({"content": [{"type": "text", "text": text}]})), sentence);
    }
    let none = json!({"message_type": "CHOOSE_PARITY_RESPONSE", "match_id": "R1M1"});
    assert_eq!(choice(&none), "you sent no `parity_choice`; send \"parity_choice\": \"even\" or \"odd\"");
}

#[test]
fn two_choices_or_another_match_are_reported() {
    let two = json!({"parity_choice": "odd", "data": {"parity_choice": "even"}});
    assert_eq!(choice(&two), "you sent two different choices in one answer; send one choice, in `parity_choice`");
    let other = json!({"message_type": "CHOOSE_PARITY_RESPONSE", "match_id": "R9M9", "parity_choice": "odd"});
    let sentence = choice(&other);
    assert_eq!(sentence, "you answered about another match; answer with \"match_id\": \"R1M1\", the match of the call");
}

#[test]
fn an_acknowledgement_is_reported_as_a_missing_answer() {
    assert_eq!(
        choice(&json!({"status": "ok"})),
        "you acknowledged the call, and no CHOOSE_PARITY_RESPONSE followed; put the CHOOSE_PARITY_RESPONSE into the result of the call"
    );
    assert_eq!(
        wrong(QuestionKind::Join, 200, &rpc(&json!({"accept": "perhaps"}))).to_string(),
        "you sent `perhaps`; send `true` or `false`"
    );
    let declined = wrong(QuestionKind::Join, 200, &rpc(&json!({"message_type": "GAME_JOIN_ACK", "accept": false})));
    assert_eq!(declined.to_string(), "you declined the invitation; send \"accept\": true to play");
}

#[test]
fn http_and_rpc_errors_are_reported_with_a_fix() {
    let match_id: MatchId = "R1M1".parse().unwrap();
    let sentence = |status, body: &[u8]| {
        Problem::of_answer(QuestionKind::Choice, &match_id, status, body).map(|problem| problem.to_string()).unwrap()
    };
    let page = b"<!DOCTYPE html><html><body>It works!</body></html>";
    let html =
        "you answered with an HTML page (HTTP 200); answer with JSON; is another program listening at this address?";
    assert_eq!(sentence(200, page), html);
    let missing = "you answered with HTTP 404: answer POST at the path that you registered, usually /mcp";
    assert_eq!(sentence(404, page), missing);
    assert_eq!(
        sentence(500, b"Internal Server Error"),
        "you answered with HTTP 500: look for an exception in your console"
    );
    assert_eq!(
        sentence(200, b"odd"),
        "you sent `odd`, which is no JSON object (HTTP 200); answer with one JSON object"
    );
    assert_eq!(sentence(200, b""), "you sent an empty answer (HTTP 200); answer with one JSON object");
    assert_eq!(
        sentence(200, &vec![b' '; 70_000]),
        "you sent an answer of more than 64 KiB; send the answer alone, without history or logs"
    );
    let error = |number: i64, words: &str| {
        sentence(200, &serde_json::to_vec(&json!({"error": {"code": number, "message": words}})).unwrap())
    };
    assert_eq!(
        error(-32601, "Method not found: choose_parity"),
        "you answered with error -32601: \"Method not found: choose_parity\"; answer the method `choose_parity`"
    );
    assert_eq!(
        error(-32603, "division by zero"),
        "you answered with error -32603: \"division by zero\"; look for its cause in your console"
    );
}

#[test]
fn missing_and_late_answers_are_reported_with_a_fix() {
    let second = Duration::from_secs(1);
    let late = Problem::late(Duration::from_millis(31_180), 30 * second);
    for (problem, sentence) in [
        (
            Problem::silent(30 * second),
            "you did not answer within 30 s; answer sooner, or look in your console for what keeps the player waiting",
        ),
        (
            late,
            "you answered after 31.2 s; the limit is 30 s; decide sooner, or answer with a fallback before the limit",
        ),
        (
            Problem::not_listening("http://127.0.0.1:8101/mcp"),
            "nothing listened at http://127.0.0.1:8101/mcp: is the player still running?",
        ),
        (Problem::HungUp, "you hung up while answering: look for an exception in your console"),
        (
            Problem::WrongToken,
            "you answered with a wrong token; send the auth_token of your latest registration with each answer",
        ),
    ] {
        assert_eq!(problem.to_string(), sentence);
    }
}

#[test]
fn the_most_specific_of_several_problems_is_reported() {
    let unknown = wrong(QuestionKind::Choice, 200, &json!({"error": {"code": -32601, "message": "unknown method"}}));
    let value = wrong(QuestionKind::Choice, 200, &rpc(&json!({"parity_choice": "ODD"})));
    let nothing = wrong(QuestionKind::Choice, 200, &rpc(&json!({"status": "ok"})));
    let problems = [unknown.clone(), value.clone(), nothing.clone()];
    assert_eq!(Problem::most_specific(problems), Some(value));
    assert_eq!(Problem::most_specific([nothing, unknown.clone()]), Some(unknown));
    assert_eq!(Problem::most_specific([]), None);
}

#[test]
fn a_right_answer_is_no_problem() {
    let match_id: MatchId = "R1M1".parse().unwrap();
    for (question, body) in [
        (QuestionKind::Choice, rpc(&json!({"parity_choice": "odd"}))),
        (QuestionKind::Join, rpc(&json!({"message_type": "GAME_JOIN_ACK", "accept": true}))),
        (QuestionKind::Move, rpc(&json!({"move": "b2"}))),
    ] {
        let bytes = serde_json::to_vec(&body).unwrap();
        assert_eq!(Problem::of_answer(question, &match_id, 200, &bytes), None, "{body}");
    }
    assert_eq!(Problem::of_choice("odd"), None);
    assert_eq!(Problem::of_choice("ODD").unwrap().to_string(), "you sent `ODD`; send `odd`");
}

#[test]
fn quotes_are_short_and_on_one_line() {
    let hostile = format!("`\u{1b}[31m\r\n\u{202e}<script>{}", "x".repeat(500));
    let sentence = choice(&json!({"parity_choice": hostile}));
    assert!(sentence.chars().count() < 160, "{sentence}");
    assert!(!sentence.chars().any(|c| c.is_control() || c == '\u{202e}'), "{sentence:?}");
    assert_eq!(sentence.matches('`').count(), 6, "{sentence}");
}

#[test]
fn a_quote_has_no_credential() {
    let token = "tok-P01-9FzL0y2hJ8Qm3cVtXb7RwKd5NsGp1AeUiOoTlYkM4Hf";
    let sentence = choice(&json!({"parity_choice": format!("bad token {token}!")}));
    assert_eq!(sentence, "you sent `bad token …!`; send `even` or `odd`");
    assert_eq!(quoted(token), "…");
    assert_eq!(quoted("Method not found: handle_game_invitation"), "Method not found: handle_game_invitation");
}

#[test]
fn a_problem_is_read_back_and_an_unknown_kind_is_accepted() {
    for problem in [
        Problem::silent(Duration::from_secs(5)),
        Problem::not_listening("http://h:1/mcp"),
        Problem::HungUp,
        Problem::Irregular { quirk: Quirk::BareAnswer },
        wrong(QuestionKind::Choice, 200, &rpc(&json!({"parity": "odd"}))),
    ] {
        let text = serde_json::to_string(&problem).unwrap();
        assert_eq!(serde_json::from_str::<Problem>(&text).unwrap(), problem, "{text}");
        assert!(!problem.sentence_about("Ada").contains("you"), "{problem}");
        assert!(!problem.brief().contains("http"), "{problem}");
    }
    assert_eq!(serde_json::from_str::<Problem>(r#"{"kind": "eaten_by_a_dog", "dog": 1}"#).unwrap(), Problem::Unknown);
}
