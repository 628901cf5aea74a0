//! Runs every decoder, for the property tests and for fuzzing, which includes this file by its path.

use league_protocol::answer::{ParsedAnswer, ReplyKind, has_no_error};
use league_protocol::id::{MatchId, RoundId};
use league_protocol::request::{self, Incoming};

/// Formats the results, so that `Debug` is tested too.
pub(crate) fn decode_everything(bytes: &[u8]) -> String {
    let mut shown = match request::read(bytes) {
        Ok(Incoming::Call(request)) => format!("{request:?} {:?} {:?}", request.check(false), request.check(true)),
        Ok(incoming @ (Incoming::Mcp(_) | Incoming::Batch(_))) => format!("{incoming:?}"),
        Err(refused) => format!("{refused:?} {}", refused.fault.headline()),
    };
    shown += &match request::read_registration(bytes) {
        Ok(request) => format!("{request:?} {:?}", request.check(false)),
        Err(refused) => format!("{refused:?}"),
    };
    shown += &match ParsedAnswer::parse(bytes) {
        Ok(layers) => {
            let id = MatchId::of(RoundId(2), 3);
            let (join, parity, played) = (layers.join(&id), layers.parity(&id), layers.game_move(&id));
            let (registration, reply_kind) = (layers.registration(), layers.reply_kind());
            assert_eq!(
                has_no_error(bytes),
                reply_kind == ReplyKind::NoError,
                "the search for error words and the parser differ"
            );
            format!("{layers:?} {join:?} {parity:?} {played:?} {registration:?} {reply_kind:?}")
        }
        Err(unreadable) => {
            assert!(has_no_error(bytes), "an unreadable answer reports no error");
            unreadable.to_string()
        }
    };
    shown
}
