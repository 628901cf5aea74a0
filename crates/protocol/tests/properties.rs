//! Properties of any message and any bytes: written messages read back, no panic, no invented move, no secret shown.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what helps it")]

mod arbitrary;
mod decode;
mod sample;

use league_protocol::answer::{JoinAnswer, MoveAnswer, ParsedAnswer, RegistrationAnswer, ReplyKind, has_no_error};
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::frame::{Frame, RequestId};
use league_protocol::id::{MatchId, PlayerId, RoundId};
use league_protocol::message::choice::ChooseParityResponse;
use league_protocol::message::invitation::GameJoinAck;
use league_protocol::message::registration::{RegisterResponse, RegistrationStatus};
use league_protocol::parity::Parity;
use league_protocol::reply::ReplyTo;
use league_protocol::request::{self, Incoming, Request};
use league_protocol::table::{Call, Method, MethodSpelling, TABLE};
use league_protocol::token::{Credential, Token};
use proptest::prelude::*;
use serde_json::{Value, json};

use arbitrary::{any_call, envelope, word};
use decode::decode_everything;

fn written(dialect: &PeerDialect, envelope: &Envelope, call: &Call) -> Vec<u8> {
    let mut out = Vec::new();
    dialect.write(7, envelope, call, &mut out).unwrap();
    out
}

fn body(call: &Call) -> String {
    let mut out = Vec::new();
    call.write_body(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn read(bytes: &[u8]) -> Option<Box<Request<'_>>> {
    match request::read(bytes) {
        Ok(Incoming::Call(request)) => Some(request),
        Ok(Incoming::Mcp(_) | Incoming::Batch(_)) | Err(_) => None,
    }
}

fn words(list: &'static str) -> prop::sample::Select<&'static str> {
    prop::sample::select(list.split_whitespace().collect::<Vec<_>>())
}

fn any_json() -> impl Strategy<Value = String> {
    let key = words(
        "jsonrpc method params id result error data content text structuredContent message message_type \
         type protocol sender timestamp auth_token match_id parity_choice choice move accept status name \
         arguments players score details isError code x",
    );
    let text = words(
        "tools/call choose_parity mcp_message GAME_INVITATION PARITY_CHOICE CHOOSE_PARITY_RESPONSE even \
         EVEN odd league.v2 R2M3 ACK ACCEPTED P05 2026-03-04T09:00:00Z \
         {\\\"parity_choice\\\":\\\"even\\\"}",
    );
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".into()),
        Just("false".into()),
        Just("1e999".into()),
        Just("18446744073709551616".into()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f32>().prop_map(|n| format!("{n:?}")),
        text.prop_map(|text| format!("\"{text}\"")),
    ];
    leaf.prop_recursive(6, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            // A vector instead of a map, so that keys may repeat.
            prop::collection::vec((key.clone(), inner), 0..8).prop_map(|fields| {
                let fields: Vec<_> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

/// A choice may be anywhere, in any form, repeated, or in an irrelevant place.
fn answer() -> impl Strategy<Value = Value> {
    let word = || prop::sample::select(vec!["even", "odd", "even", "odd", "EVEN", "Odd", "maybe", ""]);
    let name = prop::sample::select(vec!["CHOOSE_PARITY_RESPONSE", "PARITY_CHOICE", "GAME_JOIN_ACK"]);
    let field = |value| prop::option::weighted(0.6, value);
    let layer = (field(word()), field(word()), field(name)).prop_map(|(parity, choice, name)| {
        let fields = [("parity_choice", parity), ("choice", choice), ("message_type", name)];
        let fields = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), Value::from(value?))));
        Value::Object(fields.collect())
    });
    layer.prop_recursive(3, 12, 2, |inner| {
        let place =
            prop::sample::select(vec!["result", "params", "data", "structuredContent", "text", "list", "aside"]);
        (inner.clone(), inner, place).prop_map(|(mut outer, inner, place)| {
            let Some(fields) = outer.as_object_mut() else { return inner };
            match place {
                "text" => {
                    let block = json!([{ "type": "text", "text": inner.to_string() }]);
                    fields.insert("content".into(), block);
                }
                "list" => {
                    fields.insert("aside".into(), json!([inner]));
                }
                place => {
                    fields.insert(place.into(), inner);
                    fields.insert("method".into(), "x".into());
                }
            }
            outer
        })
    })
}

/// True if any object in `value` contains `played` in one of the forms.
fn says(value: &Value, played: &str) -> bool {
    match value {
        Value::Object(fields) => {
            let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
            let folded = text("message_type") == "PARITY_CHOICE" && text("choice").eq_ignore_ascii_case(played);
            let alone = !fields.contains_key("parity_choice") && text("choice") == played;
            text("parity_choice") == played || alone || folded || fields.values().any(|inner| says(inner, played))
        }
        Value::Array(items) => items.iter().any(|inner| says(inner, played)),
        Value::String(text) => serde_json::from_str::<Value>(text).is_ok_and(|inner| says(&inner, played)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

proptest! {
    #[test]
    fn every_request_is_read_back_from_every_frame(call in any_call(), envelope in envelope()) {
        for frame in [Frame::Direct, Frame::Typed, Frame::Tool, Frame::Bare, Frame::Nested] {
            let bytes = written(&PeerDialect::from(frame), &envelope, &call);
            let row = call.method().row();
            // Outside of a tool call or a bare message, `ping` is MCP's method.
            if row.method == Method::Ping && !matches!(frame, Frame::Tool | Frame::Bare) {
                continue;
            }
            let request = read(&bytes).unwrap();
            let expected = if frame == Frame::Typed && row.message.is_none() { Frame::Direct } else { frame };
            prop_assert_eq!(request.frame, expected);
            prop_assert_eq!(request.method(), call.method());
            prop_assert_eq!(body(&request.call), body(&call));
            prop_assert_eq!(request.head.sender.as_good(), Some(&envelope.sender));
            prop_assert_eq!(request.head.timestamp.as_good().map(|written| written.time), Some(envelope.timestamp));
            prop_assert_eq!(request.head.conversation_id.as_good(), Some(&envelope.conversation_id));
            let token = |credential: &Option<Credential>| credential.as_ref().map(|token| token.reveal().to_owned());
            prop_assert_eq!(token(&request.head.auth_token), token(&envelope.auth_token));
        }
    }

    #[test]
    fn the_order_of_keys_makes_no_difference(call in any_call(), envelope in envelope(), extra in any_json()) {
        // `method` before `params` is read in one pass, any other order in two.
        let good = written(&PeerDialect::default(), &envelope, &call);
        let shown = |text: &str| format!("{:?}", request::read(text.as_bytes()).map_err(|refused| *refused));
        let parts: serde_json::Map<String, Value> = serde_json::from_slice(&good).unwrap();
        let (method, id) = (&parts["method"], &parts["id"]);
        for params in [parts["params"].to_string(), extra] {
            let first = format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params},"id":{id}}}"#);
            let last = format!(r#"{{"id":{id},"params":{params},"method":{method},"jsonrpc":"2.0"}}"#);
            prop_assert_eq!(shown(&first), shown(&last));
        }
        let twice = format!(r#"{{"method":{method},"params":{{}},"params":{{}},"id":{id}}}"#);
        prop_assert!(read(twice.as_bytes()).is_none());
    }

    #[test]
    fn every_spelling_leads_to_the_same_call(call in any_call(), envelope in envelope()) {
        for (place, alias) in call.method().row().aliases.iter().enumerate() {
            let spelling = MethodSpelling::Alias(u8::try_from(place).unwrap());
            let bytes = written(&PeerDialect::default().calling(call.method(), alias), &envelope, &call);
            let request = read(&bytes).unwrap();
            prop_assert_eq!((request.method(), request.spelling), (call.method(), spelling));
        }
    }

    #[test]
    fn answers_are_understood_in_every_frame(
        envelope in envelope(), accept in any::<bool>(), nonce in word(), even in any::<bool>(), reason in word(),
        accepted in any::<bool>(), code in 1000..7000_i32,
    ) {
        let (match_id, player_id) = (MatchId::of(RoundId(2), 3), PlayerId::numbered(5));
        for frame in Frame::ALL {
            let write = |method, body: &dyn Fn(&ReplyTo, &mut Vec<u8>)| {
                let mut out = Vec::new();
                body(&ReplyTo { frame, id: RequestId::from(3), method: Some(method) }, &mut out);
                out
            };
            let join = GameJoinAck {
                match_id: Some(match_id.clone()), player_id: Some(player_id.clone()), arrival_timestamp: None,
                accept: Some(accept), draw_nonce: nonce.parse().ok(),
                reason: None, signature: None,
            };
            let bytes = write(Method::GameInvitation, &|to, out| to.answer(&envelope, &join, out).unwrap());
            let reading = ParsedAnswer::parse(&bytes).unwrap().join(&match_id);
            let nonce = join.draw_nonce.clone().unwrap_or_default();
            let expected = if accept { JoinAnswer::Joined { nonce } } else { JoinAnswer::Declined };
            prop_assert_eq!(reading.answer, expected);
            let token = reading.token.map(|token| token.reveal().to_owned());
            prop_assert_eq!(token, envelope.auth_token.as_ref().map(|token| token.reveal().to_owned()));

            let parity_choice = if even { Parity::Even } else { Parity::Odd };
            let choice =
                ChooseParityResponse { match_id: match_id.clone(), player_id: player_id.clone(), parity_choice, signature: None };
            let bytes = write(Method::ChooseParity, &|to, out| to.answer(&envelope, &choice, out).unwrap());
            let reading = ParsedAnswer::parse(&bytes).unwrap().parity(&match_id);
            prop_assert_eq!(reading.answer, MoveAnswer::Move(parity_choice.as_str().into()));

            let response = RegisterResponse {
                status: if accepted { RegistrationStatus::Accepted } else { RegistrationStatus::Rejected },
                player_id: accepted.then(|| player_id.clone()), referee_id: None, league_id: None,
                reason: (!accepted).then(|| reason.clone()), reason_code: (!accepted).then_some(code),
                error_code: None,
                pass_scheme: None, operator_needs_token: false, warnings: Vec::new(),
            };
            let bytes = write(Method::RegisterPlayer, &|to, out| to.answer(&envelope, &response, out).unwrap());
            let answer = ParsedAnswer::parse(&bytes).unwrap().registration().answer;
            prop_assert_eq!(answer, if accepted {
                RegistrationAnswer::Accepted {
                    player_id: Some(player_id.clone()), referee_id: None, league_id: None, passes: false,
                    operator_needs_token: false,
                }
            } else {
                RegistrationAnswer::Rejected { reason: reason.clone(), code: Some(code.into()) }
            });

            let fault = league_protocol::error::RequestError::new(
                league_protocol::error::ErrorCode::E012, Method::ChooseParity, reason.clone(),
            );
            let bytes = write(Method::ChooseParity, &|to, out| to.refuse(&envelope, &fault, out).unwrap());
            let error = ParsedAnswer::parse(&bytes).unwrap().error().unwrap();
            prop_assert_eq!(error.code.as_deref(), Some("E012"), "{}", frame);
            prop_assert!(error.words.ends_with(&reason), "{frame} {}", error.words);
            prop_assert!(!has_no_error(&bytes), "{}", frame);
        }
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        decode_everything(&bytes);
    }

    #[test]
    fn no_json_makes_a_decoder_panic(text in any_json()) {
        decode_everything(text.as_bytes());
    }

    #[test]
    fn no_damage_to_a_message_makes_a_decoder_panic(
        call in any_call(), envelope in envelope(), place in any::<prop::sample::Index>(), byte in any::<u8>(),
        cut in any::<prop::sample::Index>(), frame in prop::sample::select(&Frame::ALL[..5]), extra in any_json(),
    ) {
        let good = written(&PeerDialect::from(frame), &envelope, &call);
        let mut flipped = good.clone();
        flipped[place.index(good.len())] = byte;
        decode_everything(&flipped);
        decode_everything(&good[..cut.index(good.len())]);
        let mut stuffed = good.clone();
        stuffed.splice(cut.index(good.len())..cut.index(good.len()), extra.into_bytes());
        decode_everything(&stuffed);
        let body = body(&call);
        let twice = format!("{{{0},{0}}}", &body[1..body.len() - 1]);
        decode_everything(twice.as_bytes());
    }

    #[test]
    fn a_move_is_only_read_where_the_answer_contains_it(answer in answer()) {
        let text = answer.to_string();
        let Ok(layers) = ParsedAnswer::parse(text.as_bytes()) else { return Ok(()) };
        if let MoveAnswer::Move(played) = layers.parity(&MatchId::of(RoundId(2), 3)).answer {
            prop_assert!(played == "even" || played == "odd");
            prop_assert!(says(&answer, &played), "{played} out of {text}");
            let other = if played == "even" { "odd" } else { "even" };
            prop_assert!(!says(&answer, other) || text.contains("aside"), "{played} out of {text}");
        }
    }

    #[test]
    fn debug_output_contains_no_secret(
        seed in any::<[u8; 32]>(), call in any_call(), frame in prop::sample::select(&Frame::ALL[..5]),
        damage in any::<prop::sample::Index>(), whole in any::<bool>(),
    ) {
        let token = Token::mint("P05", &seed);
        let secret = token.reveal().trim_start_matches("tok-P05-").to_owned();
        let pass = token.digest().manager_pass(&sample::league());
        for credential in [Credential::from(token), Credential::from(pass.clone())] {
            let envelope = Envelope { auth_token: Some(credential), ..sample::envelope() };
            let mut call = call.clone();
            if let Call::RegisterPlayer(request) = &mut call {
                request.join_key = envelope.auth_token.clone();
            } else if let Call::StartMatch(start) = &mut call {
                start.players.a.referee_pass = Some(pass.clone());
            }
            let mut bytes = written(&PeerDialect::from(frame), &envelope, &call);
            if !whole {
                let place = damage.index(bytes.len());
                bytes[place] = b'}';
            }
            let batch = [b"[", bytes.as_slice(), b"]"].concat();
            let mut answer = b"{\"result\":".to_vec();
            answer.extend_from_slice(&bytes);
            answer.push(b'}');
            for bytes in [bytes, batch, answer] {
                let shown = decode_everything(&bytes);
                prop_assert!(!shown.contains(&secret) && !shown.contains(pass.reveal()), "{shown}");
            }
        }
    }
}

#[test]
fn no_answer_of_ours_is_taken_for_an_error() {
    for row in TABLE {
        for frame in Frame::ALL {
            let mut out = Vec::new();
            sample::answer(row.method, &ReplyTo { frame, id: RequestId::from(3), method: Some(row.method) }, &mut out);
            assert_eq!(ParsedAnswer::parse(&out).unwrap().reply_kind(), ReplyKind::NoError, "{} {frame}", row.name);
            assert!(has_no_error(&out), "{} {frame}", row.name);
        }
    }
}

#[test]
fn an_error_is_found_in_escaped_and_nested_keys() {
    for body in [&br#"{"error":{}}"#[..], br#"{"\u0065rror":{}}"#, br#"{"result":{"isError":true}}"#] {
        assert!(!has_no_error(body), "{}", String::from_utf8_lossy(body));
    }
    for body in [&br#"{"error":null}"#[..], br#"{"result":{"mirror":1}}"#, br#"["error"]"#, b"no JSON, no error"] {
        assert!(has_no_error(body), "{}", String::from_utf8_lossy(body));
    }
}

#[test]
fn depth_and_size_are_bounded() {
    for deep in ["[", "{\"result\":", "{\"params\":{\"message\":", "{\"content\":[{\"text\":"] {
        decode_everything(deep.repeat(20_000 / deep.len()).as_bytes());
        let closed = format!("{}1{}", "{\"result\":".repeat(5_000), "}".repeat(5_000));
        decode_everything(closed.as_bytes());
    }
    let text = |inside: &str| format!("{{\"content\":[{{\"text\":{}}}]}}", serde_json::to_string(inside).unwrap());
    let nested = (0..10).fold(String::from("{\"parity_choice\":\"even\"}"), |inside, _| text(&inside));
    decode_everything(nested.as_bytes());
    let long = format!("{{\"method\":\"ping\",\"params\":\"{}\"}}", "x".repeat(request::MAX_BODY));
    assert!(decode_everything(long.as_bytes()).contains("at most"));
}

#[test]
fn a_secret_of_the_wrong_type_is_not_quoted() {
    for key in ["auth_token", "join_key"] {
        for value in ["48151623", "[\"s3cr3t\"]", "{\"k\":\"s3cr3t\"}"] {
            let endpoint = "\"endpoint\":\"http://127.0.0.1:1/mcp\"";
            let text = format!("{{\"message_type\":\"LEAGUE_REGISTER_REQUEST\",{endpoint},\"{key}\":{value}}}");
            let shown = decode_everything(text.as_bytes());
            assert!(!shown.contains("48151623") && !shown.contains("s3cr3t"), "{shown}");
        }
    }
}
