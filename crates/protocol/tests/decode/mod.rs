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
            let (registration, heard) = (layers.registration(), layers.reply_kind());
            assert_eq!(has_no_error(bytes), heard == ReplyKind::NoError, "the short way and the long one differ");
            format!("{layers:?} {join:?} {parity:?} {played:?} {registration:?} {heard:?}")
        }
        Err(unreadable) => {
            assert!(has_no_error(bytes), "who cannot be understood has said nothing against it");
            unreadable.to_string()
        }
    };
    shown
}
