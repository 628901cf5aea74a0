//! Golden files of all messages of a match. A change of these files is a change of the protocol.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use insta::{Settings, assert_snapshot};
use league_protocol::reply::write_message;

use super::*;
use crate::game_match::input::CallNumber;
use crate::game_match::step::StepCommand;

fn laid_out(json: &[u8]) -> String {
    let (mut out, mut depth, mut quoted, mut escaped) = (String::new(), 0, false, false);
    let line = |out: &mut String, depth: usize| write!(out, "\n{}", "  ".repeat(depth)).unwrap();
    for letter in std::str::from_utf8(json).unwrap().chars() {
        if quoted {
            quoted = escaped || letter != '"';
            escaped = !escaped && letter == '\\';
            out.push(letter);
            continue;
        }
        match letter {
            '{' | '[' => {
                depth += 1;
                out.push(letter);
                line(&mut out, depth);
            }
            '}' | ']' => {
                depth -= 1;
                line(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                quoted = letter == '"';
                out.push(letter);
            }
        }
    }
    out
}

fn together(messages: &[(&str, Vec<u8>)]) -> String {
    let text = |(to, json): &(&str, Vec<u8>)| format!("-- {to}\n{}\n", laid_out(json));
    messages.iter().map(text).collect()
}

/// The same message to both players.
fn to_both(match_messages: &MatchMessages<'_>, call: impl Fn(Side) -> Call) -> [(&'static str, Vec<u8>); 2] {
    [("to PLAYER_A", Side::A), ("to PLAYER_B", Side::B)]
        .map(|(to, side)| (to, spoken(match_messages, side, &call(side))))
}

fn invitations() -> String {
    let order = order("even_odd");
    let match_machine = new_match(&order);
    let match_messages = messages_of(&match_machine, &order);
    together(&to_both(&match_messages, |side| Call::GameInvitation(match_messages.invitation(side))))
}

fn parity_calls() -> String {
    let order = order("even_odd");
    let match_machine = new_match(&order);
    let match_messages = messages_of(&match_machine, &order);
    together(&to_both(&match_messages, |side| match_messages.ask(side, now(), Duration::from_secs(30))))
}

fn move_calls() -> String {
    let order = order("tic_tac_toe");
    let mut match_machine = new_match(&order);
    let mut effects = Vec::new();
    let mut messages = Vec::new();
    match_machine.handle(Input::Start, &mut effects);
    for (side, call) in [(Side::A, CallNumber(1)), (Side::B, CallNumber(2))] {
        match_machine
            .handle(Input::Joined { side, call: Some(call), nonce: nonce(side), signature: None }, &mut effects);
    }
    for (side, about) in [(Side::A, "to PLAYER_A"), (Side::B, "to PLAYER_B, after a move")] {
        let match_messages = messages_of(&match_machine, &order);
        messages
            .push((about, spoken(&match_messages, side, &match_messages.ask(side, now(), Duration::from_secs(30)))));
        match_machine.handle(Input::Moved { side, call: None, text: "5".into(), signature: None }, &mut effects);
    }
    together(&messages)
}

fn errors(game: &str) -> String {
    let order = order(game);
    let mut messages = Vec::new();
    for ask in [AskKind::Join, AskKind::Move] {
        for fault in [CallFailure::TimedOut, CallFailure::Unreachable, CallFailure::Unreadable] {
            messages.push(error_after(&order, ask, |call| Input::Failed { side: Side::A, call, fault }));
        }
    }
    let illegal = |call| Input::Moved { side: Side::A, call: Some(call), text: "maybe".into(), signature: None };
    messages.push(error_after(&order, AskKind::Move, illegal));
    together(&messages)
}

fn error_after(order: &StartMatch, ask: AskKind, failure: impl Fn(CallNumber) -> Input) -> (&'static str, Vec<u8>) {
    let mut match_machine = new_match(order);
    let mut effects = Vec::new();
    match_machine.handle(Input::Start, &mut effects);
    let about = match ask {
        AskKind::Join => "about the invitation",
        AskKind::Move => {
            for side in Side::BOTH {
                match_machine
                    .handle(Input::Joined { side, call: None, nonce: nonce(side), signature: None }, &mut effects);
            }
            "about the call for a move"
        }
    };
    let call = if ask == AskKind::Join { CallNumber(1) } else { CallNumber(3) };
    effects.clear();
    match_machine.handle(failure(call), &mut effects);
    let Some(Effect::SendError { side, ask, attempt_error, tries_made, tries_allowed, pause }) = effects.first() else {
        panic!("nothing is told: {effects:?}");
    };
    let match_messages = messages_of(&match_machine, order);
    let tries = (*tries_made, *tries_allowed);
    let error = match_messages.error(*side, *ask, attempt_error, tries, now().after(*pause));
    (about, spoken(&match_messages, *side, &Call::NotifyGameError(error)))
}

fn end(order: &StartMatch, conduct: Pair<Conduct>) -> String {
    let match_machine = played(order, conduct);
    let match_messages = messages_of(&match_machine, order);
    let [to_a, to_b] = to_both(&match_messages, |side| Call::NotifyMatchResult(match_messages.over(side).unwrap()));
    let envelope = Envelope {
        auth_token: Some(Credential::from(Token::mint("REF01", &[3; 32]))),
        ..match_messages.envelope(Side::A, now())
    };
    let mut report = Vec::new();
    let call = Call::ReportMatchResult(match_messages.report().unwrap());
    PeerDialect::default().write(1, &envelope, &call, &mut report).unwrap();
    together(&[to_a, to_b, ("to the manager", report)])
}

fn states() -> Vec<(&'static str, Vec<u8>)> {
    let order = StartMatch { mode: MatchMode::Stepped, ..order("even_odd") };
    let mut match_machine = new_match(&order);
    let (mut effects, mut messages) = (Vec::new(), Vec::new());
    let mut look = |about: &'static str, match_machine: &MatchMachine| {
        let match_messages = messages_of(match_machine, &order);
        let answer = Method::GetMatchState.row().answer;
        let envelope = Envelope { auth_token: None, ..match_messages.envelope(Side::A, now()) };
        let mut out = Vec::new();
        write_message(answer, &envelope, &match_messages.state(), &mut out).unwrap();
        messages.push((about, out));
    };
    look("before it begins", &match_machine);
    match_machine.handle(Input::Start, &mut effects);
    match_machine
        .handle(Input::Joined { side: Side::A, call: None, nonce: nonce(Side::A), signature: None }, &mut effects);
    look("one has joined", &match_machine);
    match_machine
        .handle(Input::Joined { side: Side::B, call: None, nonce: nonce(Side::B), signature: None }, &mut effects);
    look("both have joined", &match_machine);
    match_machine.step(StepCommand::CollectChoices, &mut effects).unwrap();
    match_machine.handle(Input::Moved { side: Side::B, call: None, text: "odd".into(), signature: None }, &mut effects);
    look("one has chosen", &match_machine);
    match_machine
        .handle(Input::Moved { side: Side::A, call: None, text: "even".into(), signature: None }, &mut effects);
    look("both have chosen", &match_machine);
    match_machine.step(StepCommand::DrawNumber, &mut effects).unwrap();
    look("the number is drawn", &match_machine);
    match_machine.step(StepCommand::Finalize, &mut effects).unwrap();
    look("the end is being told", &match_machine);
    messages
}

fn cases() -> Vec<(String, String)> {
    let board = order("tic_tac_toe");
    let line = Pair::new(Conduct::Moves(&["1", "2", "3"]), Conduct::Moves(&["4", "5"]));
    let cases = [
        ("invitations", invitations()),
        ("parity_calls", parity_calls()),
        ("move_calls", move_calls()),
        ("errors_even_odd", errors("even_odd")),
        ("errors_tic_tac_toe", errors("tic_tac_toe")),
        ("end_tic_tac_toe", end(&board, line)),
        ("states", together(&states())),
    ];
    let endings = endings().into_iter().map(|(name, order, conduct)| (format!("end_{name}"), end(&order, conduct)));
    cases.map(|(name, text)| (name.to_owned(), text)).into_iter().chain(endings).collect()
}

#[test]
fn all_messages_of_a_match_equal_their_golden_files() {
    let mut settings = Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("../snapshots");
    settings.bind(|| cases().into_iter().for_each(|(name, text)| assert_snapshot!(name, text)));
}

#[test]
fn every_golden_file_belongs_to_a_case() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/game_match/messages/snapshots");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let expected: BTreeSet<String> = cases().into_iter().map(|(name, _)| format!("{name}.snap")).collect();
    assert_eq!(files.collect::<BTreeSet<String>>(), expected);
}

#[test]
fn the_state_of_a_match_shows_no_choice_before_the_end() {
    let states = states();
    let (before, after) = states.split_at(5);
    for (about, json) in before {
        let text = std::str::from_utf8(json).unwrap();
        assert!(!text.contains("\"even\"") && !text.contains("\"odd\"") && !text.contains("game_result"), "{about}");
        assert!(!text.contains("secret") && !text.contains("salt"), "{about}");
    }
    for (about, json) in after {
        assert!(std::str::from_utf8(json).unwrap().contains("game_result"), "{about}");
    }
}
