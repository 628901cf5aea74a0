//! Any bytes as a request to us and as an answer to us.
//!
//! Nothing panics; a refusal can always be written; a call that was read, written again in any frame, is the same call; and
//! nothing but a move is ever read as one.

#![no_main]
#![forbid(unsafe_code)]

use league_protocol::answer::{MoveAnswer, ParsedAnswer};
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::{Envelope, EnvelopeRule};
use league_protocol::frame::Frame;
use league_protocol::id::{ConversationId, MatchId, RoundId};
use league_protocol::message::acknowledgement::Acknowledgement;
use league_protocol::parity::Parity;
use league_protocol::request::{self, Incoming, MAX_BODY, Refused, Request};
use league_protocol::sender::Sender;
use league_protocol::table::{Call, Method};
use league_protocol::time::Timestamp;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match request::read(bytes) {
        Ok(Incoming::Call(request)) => a_call_survives_every_frame(&request),
        Ok(Incoming::Batch(parts)) => {
            for part in parts {
                let _ = request::read(part.get().as_bytes()).map_err(|refused| a_refusal_can_be_written(&refused));
            }
        }
        Ok(Incoming::Mcp(_)) => {}
        Err(refused) => a_refusal_can_be_written(&refused),
    }
    match request::read_registration(bytes) {
        Ok(request) => a_call_survives_every_frame(&request),
        Err(refused) => a_refusal_can_be_written(&refused),
    }
    an_answer_holds_a_move_or_none(bytes);
});

fn envelope() -> Envelope {
    Envelope {
        sender: Sender::manager(),
        timestamp: Timestamp::EPOCH,
        conversation_id: ConversationId::named("fuzz"),
        auth_token: None,
    }
}

fn body(call: &Call) -> Vec<u8> {
    let mut out = Vec::new();
    call.write_body(&mut out).expect("what was read can be written");
    out
}

fn a_call_survives_every_frame(request: &Request<'_>) {
    // A request that passes the strict check also passes the lenient one.
    assert!(request.check(true).is_err() || request.check(false).is_ok());
    let mut answer = Vec::new();
    request.reply_to().answer(&envelope(), &Acknowledgement::default(), &mut answer).expect("an answer can be written");
    ParsedAnswer::parse(&answer).expect("an answer is an object");

    let method = request.method();
    for frame in [Frame::Direct, Frame::Typed, Frame::Tool, Frame::Bare, Frame::Nested] {
        // A message without a type cannot go without a method, and a bare `ping` is MCP's.
        let needs_method = frame == Frame::Bare && method.row().message.is_none();
        if needs_method || (method == Method::Ping && frame != Frame::Tool) {
            continue;
        }
        let mut out = Vec::new();
        PeerDialect::from(frame).write(1, &envelope(), &request.call, &mut out).expect("what was read can be written");
        if out.len() > MAX_BODY {
            continue;
        }
        match request::read(&out) {
            Ok(Incoming::Call(again)) => {
                assert_eq!(again.method(), method, "in frame {frame}");
                assert_eq!(text(&body(&again.call)), text(&body(&request.call)), "in frame {frame}");
                // The envelope alone: a version that a registration names in its body is not ours.
                again.head.check(method, EnvelopeRule::Lenient).expect("our own envelope is good");
            }
            other => panic!("frame {frame}: {} became {other:?}", text(&out)),
        }
    }
}

fn a_refusal_can_be_written(refused: &Refused) {
    let mut out = Vec::new();
    refused.reply_to.refuse(&envelope(), &refused.fault, &mut out).expect("a refusal can be written");
    let refusal = ParsedAnswer::parse(&out).expect("a refusal is an object");
    assert!(refusal.error().is_some(), "{} does not look like an error", text(&out));
}

fn an_answer_holds_a_move_or_none(bytes: &[u8]) {
    let Ok(layers) = ParsedAnswer::parse(bytes) else { return };
    let match_id = MatchId::of(RoundId(1), 1);
    if let MoveAnswer::Move(word) = layers.parity(&match_id).answer {
        assert!(Parity::exact(&word).is_some(), "{word} is no parity");
        assert!(layers.error().is_none(), "a move beside an error");
    }
    let _ = (layers.reply_kind(), layers.join(&match_id), layers.game_move(&match_id), layers.registration());
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
