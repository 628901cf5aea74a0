//! Transcript entries for the messages between a referee and a player, with their times. Failed tries are included.

use std::time::Duration;

use league_protocol::id::{PlayerId, RefereeId};
use league_protocol::table::Call;
use league_store::views::match_file::{CallReceipt, Direction, TranscriptEntry};
use league_wire::exchange;
use league_wire::peer_client::SendAttempt;
use smol_str::SmolStr;

pub(crate) struct TranscriptWriter {
    referee: SmolStr,
    player: SmolStr,
    answered: SmolStr,
}

impl TranscriptWriter {
    pub(crate) fn new(referee: &RefereeId, player: &PlayerId, call: &Call) -> Self {
        Self {
            referee: SmolStr::new(referee.as_str()),
            player: SmolStr::new(player.as_str()),
            answered: SmolStr::new_static(call.method().row().answer.unwrap_or("ANSWER")),
        }
    }

    /// Questions and their answers. A question without an answer carries the receipt.
    pub(crate) fn write_down(&self, tries: &[SendAttempt]) -> Vec<TranscriptEntry> {
        let mut entries = Vec::with_capacity(2 * tries.len());
        for attempt in tries {
            let receipt = match &attempt.result {
                Ok(exchange) => exchange.receipt,
                Err(error) => error.receipt,
            };
            let shown = receipt_of(&receipt);
            let there = (self.referee.clone(), self.player.clone());
            let (asked, lost) = (SmolStr::new_static(attempt.name), attempt.result.is_err().then_some(shown));
            entries.push(TranscriptEntry::new(receipt.sent_at, Direction::Sent, there, asked, &attempt.sent, lost));
            if let Ok(exchange) = &attempt.result {
                let at = receipt.sent_at.after(receipt.last_byte.unwrap_or_default());
                let back = (self.player.clone(), self.referee.clone());
                let answered = if attempt.is_probe { SmolStr::new_static("ANSWER") } else { self.answered.clone() };
                entries.push(TranscriptEntry::new(
                    at,
                    Direction::Received,
                    back,
                    answered,
                    &exchange.body,
                    Some(shown),
                ));
            }
        }
        entries
    }
}

fn receipt_of(receipt: &exchange::Receipt) -> CallReceipt {
    let millis = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    CallReceipt {
        sent_at: receipt.sent_at,
        first_byte_ms: receipt.first_byte.map(millis),
        last_byte_ms: receipt.last_byte.map(millis),
        limit_ms: millis(receipt.limit),
        granted_ms: Some(millis(receipt.granted)).filter(|granted| *granted > 0),
        given_up_ms: receipt.given_up.map(millis),
    }
}
