//! Rules that the golden files alone do not show.

use super::*;
use league_protocol::draw::Signature;
use league_protocol::quirk::Quirk;
use serde_json::{Value, json};

fn params(match_messages: &MatchMessages<'_>, side: Side, call: &Call) -> Value {
    let message: Value = serde_json::from_slice(&spoken(match_messages, side, call)).unwrap();
    assert_eq!(message.as_object().unwrap().len(), 4, "jsonrpc, method, params, id and nothing else: {message}");
    assert_eq!((&message["jsonrpc"], &message["id"]), (&json!("2.0"), &json!(1)));
    let params = message["params"].clone();
    assert_eq!((&params["protocol"], &params["sender"]), (&json!("league.v2"), &json!("referee:REF01")));
    assert_eq!(params["timestamp"], "2025-01-15T10:30:00Z");
    let pass = match_messages.order.players[side].referee_pass.as_ref().unwrap();
    assert_eq!(params["auth_token"], pass.reveal());
    assert_eq!(params["match_id"], "R1M1");
    params
}

#[test]
fn a_match_is_one_conversation_with_each_player_and_every_attempt_another() {
    let mut order = order("even_odd");
    let match_machine = new_match(&order);
    let match_messages = messages_of(&match_machine, &order);
    let error = match_messages.error(Side::B, AskKind::Join, &AttemptError::TimedOut, (1, 3), now());
    let calls = [
        Call::GameInvitation(match_messages.invitation(Side::B)),
        match_messages.ask(Side::B, now(), Duration::ZERO),
        Call::NotifyGameError(error),
    ];
    let conversation = match_messages.conversation(Side::B);
    for call in &calls {
        assert_eq!(params(&match_messages, Side::B, call)["conversation_id"], conversation.as_str());
    }
    let unguessable = conversation.as_str().strip_prefix("conv-r1m1-001-").unwrap();
    assert_eq!(unguessable.len(), 16, "64 bits in hexadecimal: {conversation}");
    assert_ne!(match_messages.conversation(Side::A), conversation);
    let salted = MatchMachine::new(terms(&order, SECRET, [1; 32]), new_game(&order.game_type).unwrap());
    let other = messages_of(&salted, &order).conversation(Side::B);
    assert_ne!(other, conversation, "it depends on the salt, which only the referee knows");
    order.attempt = 2;
    let second = messages_of(&match_machine, &order).conversation(Side::B);
    assert!(second.as_str().starts_with("conv-r1m1-002-") && !second.as_str().ends_with(unguessable));
}

#[test]
fn an_error_has_its_retries_flat_and_nested() {
    let order = order("even_odd");
    let match_machine = new_match(&order);
    let match_messages = messages_of(&match_machine, &order);
    let last_errors = [
        (AttemptError::TimedOut, "E001", "TIMEOUT_ERROR"),
        (AttemptError::Unreachable, "E009", "CONNECTION_ERROR"),
        (AttemptError::Unreadable, "E002", "INVALID_FIELD"),
        (AttemptError::Irregular(Quirk::BareAnswer), "E002", "INVALID_FIELD"),
        (AttemptError::Irregular(Quirk::NoTimestamp), "E003", "MISSING_REQUIRED_FIELD"),
        (AttemptError::Irregular(Quirk::OddToken), "E012", "AUTH_TOKEN_INVALID"),
    ];
    for (attempt_error, code, name) in last_errors {
        let error =
            match_messages.error(Side::B, AskKind::Move, &attempt_error, (2, 3), now().after(Duration::from_secs(4)));
        let told = params(&match_messages, Side::B, &Call::NotifyGameError(error));
        assert_eq!((&told["error_code"], &told["error_name"]), (&json!(code), &json!(name)));
        let retryable = matches!(code, "E001" | "E009");
        assert_eq!((&told["error_description"], &told["retryable"]), (&json!(name), &json!(retryable)));
        assert_eq!((&told["player_id"], &told["affected_player"]), (&json!("P02"), &json!("P02")));
        assert_eq!((&told["retry_count"], &told["max_retries"]), (&json!(2), &json!(3)));
        let nested = json!({ "retry_count": 2, "max_retries": 3, "next_retry_at": "2025-01-15T10:30:04Z" });
        assert_eq!(told["retry_info"], nested);
        assert_eq!(told["action_required"], "CHOOSE_PARITY_RESPONSE");
    }
}

#[test]
fn no_result_is_sent_before_the_end_of_the_match() {
    let order = order("even_odd");
    let match_machine = new_match(&order);
    let match_messages = messages_of(&match_machine, &order);
    assert!(match_messages.over(Side::A).is_none() && match_messages.report().is_none());
}

#[test]
fn a_repeated_call_for_the_same_turn_has_the_same_numbers() {
    let order = StartMatch { attempt: 2, ..order("tic_tac_toe") };
    let mut match_machine = new_match(&order);
    let mut effects = Vec::new();
    match_machine.handle(Input::Start, &mut effects);
    for side in Side::BOTH {
        match_machine.handle(Input::Joined { side, call: None, nonce: nonce(side), signature: None }, &mut effects);
    }
    let numbers = |match_machine: &MatchMachine, side: Side| {
        let match_messages = messages_of(match_machine, &order);
        let call = params(&match_messages, side, &match_messages.ask(side, now(), Duration::ZERO));
        (call["attempt"].clone(), call["game_number"].clone(), call["turn"].clone())
    };
    let mut moves = |match_machine: &mut MatchMachine, side: Side, text: &str| {
        match_machine.handle(Input::Moved { side, call: None, text: text.into(), signature: None }, &mut effects);
    };
    let turn = |turn: u32| (json!(2), json!(1), json!(turn));
    assert_eq!(numbers(&match_machine, Side::A), turn(1));
    moves(&mut match_machine, Side::A, "10");
    assert_eq!(
        numbers(&match_machine, Side::A),
        turn(1),
        "after an illegal move the player is asked for the same turn"
    );
    moves(&mut match_machine, Side::A, "1");
    assert_eq!(numbers(&match_machine, Side::B), turn(1));
    moves(&mut match_machine, Side::B, "2");
    assert_eq!((numbers(&match_machine, Side::A), numbers(&match_machine, Side::B)), (turn(2), turn(2)));
}

#[test]
fn the_report_names_each_player_that_signed_with_what_it_signed() {
    let order = order("even_odd");
    let mut match_machine = new_match(&order);
    let mut effects = Vec::new();
    let signature = Signature([0xab; 32]);
    match_machine.handle(Input::Start, &mut effects);
    for side in Side::BOTH {
        let signature = Some(signature).filter(|_| side == Side::A);
        match_machine.handle(Input::Joined { side, call: None, nonce: nonce(side), signature }, &mut effects);
    }
    for side in Side::BOTH {
        match_machine.handle(Input::Moved { side, call: None, text: "odd".into(), signature: None }, &mut effects);
    }
    let report = messages_of(&match_machine, &order).report().unwrap();
    let written = serde_json::to_value(&report).unwrap();
    let expected = json!({"P01": {"draw_nonce": "salt", "join": "ab".repeat(32), "moves": [null]}});
    assert_eq!(written["signatures"], expected);
    assert_eq!(serde_json::from_value::<MatchResultReport>(written).unwrap(), report);
}

#[test]
fn the_order_gives_the_terms_of_a_match() {
    let mut order = order("even_odd");
    order.players.b.attempts = Some(1);
    order.timeouts.base_delay_sec = 0.5;
    let made = terms(&order, SECRET, SALT);
    assert_eq!((made.secret, made.attempt, made.mode), (SECRET, 1, DriveMode::Flowing));
    assert_eq!(made.tries, Pair::new(3, 1));
    let seconds = |span: Duration| span.as_secs_f64();
    let limits = made.limits;
    assert_eq!((seconds(limits.to_join), seconds(limits.to_move), seconds(limits.to_acknowledge)), (5.0, 30.0, 5.0));
    assert_eq!(seconds(made.base_delay), 0.5);
    assert_eq!((made.seeded, made.manager_nonce), (false, DrawNonce::default()));
    order.manager_nonce = Some("of the manager".parse().unwrap());
    assert_eq!(terms(&order, SECRET, SALT).manager_nonce, "of the manager".parse().unwrap());
    (order.draw_secret, order.mode) = (Some(DrawSecret([9; 32])), MatchMode::Stepped);
    let seeded = terms(&order, SECRET, SALT);
    assert_eq!((seeded.secret, seeded.mode), (DrawSecret([9; 32]), DriveMode::Stepped), "what was ordered goes first");
    assert!(seeded.seeded);
}
