//! Writes down what was said between a referee and a player, with the time it took.

use league_protocol::id::{PlayerId, RefereeId};
use league_protocol::table::Call;
use league_store::views::match_file::{Direction, Receipt, Utterance};
use league_wire::exchange::{CallError, Exchange};
use smol_str::SmolStr;

/// Knows who speaks with whom about what.
pub(crate) struct Scribe {
    referee: SmolStr,
    player: SmolStr,
    asked: SmolStr,
    answered: SmolStr,
}

impl Scribe {
    pub(crate) fn new(referee: &RefereeId, player: &PlayerId, call: &Call) -> Self {
        let row = call.method().row();
        Self {
            referee: SmolStr::new(referee.as_str()),
            player: SmolStr::new(player.as_str()),
            asked: SmolStr::new_static(row.message.unwrap_or(row.name)),
            answered: SmolStr::new_static(row.answer.unwrap_or("ANSWER")),
        }
    }

    /// The question and, where one came, its answer. Without an answer the question carries the receipt.
    pub(crate) fn write_down(self, question: &[u8], came: &Result<Exchange, CallError>) -> Vec<Utterance> {
        let receipt = match came {
            Ok(exchange) => exchange.receipt,
            Err(error) => error.receipt,
        };
        let millis = |span: std::time::Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let kept = Receipt {
            sent_at: receipt.sent_at,
            first_byte_ms: receipt.first_byte.map(millis),
            last_byte_ms: receipt.last_byte.map(millis),
            limit_ms: millis(receipt.limit),
        };
        let there = (self.referee.clone(), self.player.clone());
        let lost = came.is_err().then_some(kept);
        let mut said = vec![Utterance::new(receipt.sent_at, Direction::Sent, there, self.asked, question, lost)];
        if let Ok(exchange) = came {
            let at = receipt.sent_at.after(receipt.last_byte.unwrap_or_default());
            let back = (self.player, self.referee);
            said.push(Utterance::new(at, Direction::Received, back, self.answered, &exchange.body, Some(kept)));
        }
        said
    }
}
