//! Forms other than the canonical one: each is understood and recorded as a quirk.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use league_protocol::answer::{JoinAnswer, MoveAnswer, ParsedAnswer};
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::error::{ErrorCode, INVALID_REQUEST, METHOD_NOT_FOUND};
use league_protocol::frame::Frame;
use league_protocol::message::choice::{ChooseParityResponse, PostedChoice};
use league_protocol::parity::Parity;
use league_protocol::quirk::{Quirk, Quirks};
use league_protocol::request::{Incoming, Refused, Request, read, read_registration};
use league_protocol::table::{Call, Method};
use serde_json::{Value, json};

fn parity(answer: &Value) -> (MoveAnswer, Quirks) {
    let body = serde_json::to_vec(&json!({"jsonrpc": "2.0", "id": 1, "result": answer})).unwrap();
    let reading = ParsedAnswer::parse(&body).unwrap().parity(&"R1M1".parse().unwrap());
    (reading.answer, reading.quirks)
}

fn request(body: &Value) -> Result<Request<'static>, Box<Refused>> {
    let bytes: &'static [u8] = serde_json::to_vec(body).unwrap().leak();
    match read(bytes)? {
        Incoming::Call(request) => Ok(*request),
        other @ (Incoming::Mcp(_) | Incoming::Batch(_)) => panic!("{other:?}"),
    }
}

#[test]
fn choice_is_read_where_parity_choice_is_absent_under_any_message_type() {
    for called in ["CHOOSE_PARITY_RESPONSE", "RESPONSE_PARITY_CHOOSE", "MOVE", ""] {
        let (answer, quirks) = parity(&json!({"message_type": called, "match_id": "R1M1", "choice": "odd"}));
        assert_eq!(answer, MoveAnswer::Move("odd".into()), "{called}");
        assert!(quirks.has(Quirk::ChoiceField) && !quirks.has(Quirk::ParityChoiceForm), "{called}: {quirks:?}");
    }
    let (answer, quirks) = parity(&json!({"choice": "even"}));
    assert_eq!((answer, quirks.has(Quirk::ChoiceField)), (MoveAnswer::Move("even".into()), true));
}

#[test]
fn a_choice_is_exactly_even_or_odd_except_in_the_parity_choice_form() {
    for wrong in [json!("ODD"), json!("Even"), json!(" odd"), json!(1), json!({"value": "odd"}), json!("heads")] {
        for called in ["CHOOSE_PARITY_RESPONSE", "RESPONSE_PARITY_CHOOSE"] {
            let (answer, _) = parity(&json!({"message_type": called, "choice": wrong}));
            assert!(matches!(answer, MoveAnswer::Invalid(_)), "{called} {wrong}: {answer:?}");
        }
    }
    let (answer, quirks) = parity(&json!({"message_type": "PARITY_CHOICE", "choice": "ODD"}));
    assert_eq!(answer, MoveAnswer::Move("odd".into()));
    assert!(quirks.has(Quirk::ParityChoiceForm) && !quirks.has(Quirk::ChoiceField));
    // `parity_choice` takes precedence over `choice`.
    let (answer, quirks) = parity(&json!({"parity_choice": "odd", "choice": "whatever"}));
    assert_eq!((answer, quirks.has(Quirk::ChoiceField)), (MoveAnswer::Move("odd".into()), false));
    assert_eq!(parity(&json!({"status": "RECEIVED"})).0, MoveAnswer::Nothing);
    assert_eq!(parity(&json!({"choice": null})).0, MoveAnswer::Nothing);
}

#[test]
fn a_posted_choice_is_read_like_one_in_an_answer() {
    let posted = |letter: Value| match request(&json!({"jsonrpc": "2.0", "id": 1, "method": "x", "params": letter})) {
        Ok(Request { call: Call::PostChoice(choice), head, .. }) => (choice.value(&head), choice.quirk(&head)),
        other => panic!("{other:?}"),
    };
    let letter =
        |called: &str, field: &str, value: &str| json!({"message_type": called, "match_id": "R1M1", field: value});
    let odd = Some("odd".into());
    assert_eq!(posted(letter("CHOOSE_PARITY_RESPONSE", "parity_choice", "odd")), (odd.clone(), None));
    assert_eq!(posted(letter("CHOOSE_PARITY_RESPONSE", "choice", "odd")), (odd.clone(), Some(Quirk::ChoiceField)));
    assert_eq!(posted(letter("RESPONSE_PARITY_CHOOSE", "choice", "odd")), (odd.clone(), Some(Quirk::ChoiceField)));
    assert_eq!(posted(letter("PARITY_CHOICE", "choice", "ODD")), (odd, Some(Quirk::ParityChoiceForm)));
    assert_eq!(posted(letter("RESPONSE_PARITY_CHOOSE", "choice", "ODD")).0, Some("ODD".into()));
}

#[test]
fn our_players_send_both_fields() {
    let (match_id, player_id) = ("R1M1".parse().unwrap(), "P01".parse().unwrap());
    let answer = ChooseParityResponse { match_id, player_id, parity_choice: Parity::Even, signature: None };
    let written = serde_json::to_value(&answer).unwrap();
    assert_eq!((&written["parity_choice"], &written["choice"]), (&json!("even"), &json!("even")));
    assert_eq!(serde_json::from_value::<ChooseParityResponse>(written).unwrap(), answer);
}

#[test]
fn game_id_names_the_match_where_match_id_is_absent() {
    let invitation =
        |fields: Value| request(&json!({"jsonrpc": "2.0", "id": 1, "method": "game_invitation", "params": fields}));
    let named = invitation(json!({"game_id": "R1M1", "opponent_id": "P02"})).unwrap();
    let Call::GameInvitation(message) = &named.call else { panic!("{named:?}") };
    assert_eq!(message.match_id.as_str(), "R1M1");
    assert_eq!(message.opponent_id.as_ref().unwrap().as_str(), "P02");
    assert!(named.check(false).unwrap().has(Quirk::GameIdField));
    let both = invitation(json!({"game_id": "R9M9", "match_id": "R1M1"})).unwrap();
    let Call::GameInvitation(message) = &both.call else { panic!("{both:?}") };
    assert_eq!((message.match_id.as_str(), both.check(false).unwrap().has(Quirk::GameIdField)), ("R1M1", false));
    let neither = invitation(json!({"opponent_id": "P02"})).unwrap_err();
    assert!(neither.fault.message.contains("match_id"), "{:?}", neither.fault);
    for method in ["choose_parity", "notify_match_result", "get_match_state", "game_join_ack", "choose_parity_response"]
    {
        let fields = json!({"game_id": "R1M1"});
        assert!(request(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": fields})).is_ok(), "{method}");
    }
}

#[test]
fn an_answer_may_name_its_match_by_game_id() {
    let join = |answer: Value| {
        let body = serde_json::to_vec(&json!({ "result": answer })).unwrap();
        let reading = ParsedAnswer::parse(&body).unwrap().join(&"R1M1".parse().unwrap());
        (matches!(reading.answer, JoinAnswer::Joined { .. }), reading.quirks.has(Quirk::GameIdField))
    };
    assert_eq!(join(json!({"accept": true, "game_id": "R1M1"})), (true, true));
    assert!(!join(json!({"accept": true, "game_id": "R2M1"})).0);
    assert_eq!(join(json!({"accept": true, "match_id": "R1M1", "game_id": "even_odd"})), (true, false));
}

#[test]
fn an_unknown_method_is_dispatched_by_its_message_type() {
    let letter = json!({"message_type": "GAME_OVER", "match_id": "R1M1"});
    for (params, frame) in [(letter.clone(), Frame::Direct), (json!({ "message": letter }), Frame::Nested)] {
        for method in ["handle_message", "mcp_message", "message", "anything at all"] {
            let read = request(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).unwrap();
            assert_eq!((read.method(), read.frame), (Method::NotifyMatchResult, frame), "{method}");
            assert_eq!(read.one_name.as_deref(), Some(method));
            assert_eq!(read.check(false).unwrap().has(Quirk::AliasMethod), method != "mcp_message");
            let tool = json!({"name": method, "arguments": params});
            let read = request(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool})).unwrap();
            assert_eq!((read.method(), read.frame), (Method::NotifyMatchResult, Frame::Tool), "{method}");
        }
    }
    let nothing = [
        json!({}),
        json!({"message_type": "HELLO"}),
        json!(["GAME_OVER"]),
        json!({"message": "GAME_OVER"}),
        json!(null),
    ];
    for params in nothing {
        let refused = request(&json!({"jsonrpc": "2.0", "id": 1, "method": "handle_message", "params": params}));
        assert_eq!(refused.unwrap_err().fault.rpc, METHOD_NOT_FOUND, "{params}");
    }
}

#[test]
fn the_version_of_json_rpc_is_two() {
    for method in ["notify_match_result", "GAME_OVER", "handle_message", "tools/call", "tools/list"] {
        for version in [json!("1.0"), json!("2"), json!(2.0), json!(null), json!("")] {
            let letter = json!({"message_type": "GAME_OVER", "match_id": "R1M1"});
            let body = json!({"jsonrpc": version, "method": method, "id": 7, "params": letter});
            let refused = read(serde_json::to_vec(&body).unwrap().leak()).unwrap_err();
            assert_eq!(refused.fault.rpc, INVALID_REQUEST, "{method} {version}");
            assert_eq!(refused.reply_to.id, 7.into());
        }
    }
    let without = request(&json!({"method": "notify_match_result", "id": 7, "params": {"match_id": "R1M1"}}));
    assert_eq!(without.unwrap().frame, Frame::Direct, "public players leave the version out");
    let bare = request(&json!({"message_type": "GAME_OVER", "match_id": "R1M1"}));
    assert_eq!(bare.unwrap().frame, Frame::Bare);
}

#[test]
fn a_registration_may_be_nested_under_data() {
    let flat = json!({"display_name": "Alpha", "version": "1.0.0", "endpoint": "http://127.0.0.1:8101/mcp"});
    for body in [flat.clone(), json!({ "data": flat })] {
        let bytes = serde_json::to_vec(&body).unwrap();
        let read = read_registration(&bytes).unwrap();
        let Call::RegisterPlayer(request) = &read.call else { panic!("{read:?}") };
        assert_eq!(request.player_meta.display_name, "Alpha");
        assert_eq!(request.player_meta.contact_endpoint, "http://127.0.0.1:8101/mcp");
    }
    assert!(read_registration(br#"{"data": "http://127.0.0.1:8101/mcp"}"#).is_err());
}

#[test]
fn a_peer_that_registers_under_one_name_is_called_by_it() {
    let dialect = PeerDialect::of_registration(Frame::Direct, &ReceivedEnvelope::default(), Some("handle_message"));
    assert_eq!(dialect.to_string(), "A, all as handle_message");
    assert_eq!(dialect.name_of(Method::ChooseParity), "handle_message");
    let kept: PeerDialect = serde_json::from_str(&serde_json::to_string(&dialect).unwrap()).unwrap();
    assert_eq!(kept, dialect);
    assert_eq!(dialect.learning(&PeerDialect::default()).name_of(Method::ChooseParity), "choose_parity");
    assert_eq!(
        PeerDialect::of_registration(Frame::Direct, &ReceivedEnvelope::default(), Some(&"x".repeat(65))),
        PeerDialect::default()
    );
}

#[test]
fn a_posted_choice_with_two_different_values_counts_as_none() {
    let choice: PostedChoice =
        serde_json::from_value(json!({"match_id": "R1M1", "parity_choice": "odd", "move": "5"})).unwrap();
    assert_eq!(choice.value(&ReceivedEnvelope::default()), None);
}

#[test]
fn a_registration_for_an_older_protocol_is_refused() {
    for (method, meta) in [("register_player", "player_meta"), ("register_referee", "referee_meta")] {
        let check = |version: &str| {
            let fields = json!({
                "display_name": "Ada", "version": "1.0.0", "game_types": ["even_odd"], "protocol_version": version,
                "contact_endpoint": "http://127.0.0.1:8101/mcp",
            });
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": { meta: fields }});
            request(&body).unwrap().check(false).map_err(|error| (error.code, error.field))
        };
        let refused = Err((Some(ErrorCode::E018), Some(format!("{meta}.protocol_version"))));
        for version in ["1.0.0", "1.9", "1", "0", "league.v1", "league.v3", "two", "-2.0.0", "v2", "99999999999.0"] {
            assert_eq!(check(version), refused, "{version:?}");
        }
        for version in ["2.0.0", "2.1.0", "2", "3.0", "league.v2"] {
            assert!(check(version).is_ok(), "{version:?}");
        }
    }
}
