//! What a player's answer means to the bout.

use league_core::bout::effect::Ask;
use league_core::bout::input::{CallFault, CallNo, Input};
use league_protocol::answer::{JoinAnswer, Layers, MoveAnswer};
use league_protocol::id::{GameType, MatchId};
use league_protocol::quirk::Quirks;
use league_protocol::side::Side;
use league_wire::exchange::{CallError, Exchange, Failure};
use smol_str::SmolStr;

/// An answer, understood or not.
pub(crate) enum Understood {
    /// The bout is told this.
    Said { input: Input, quirks: Quirks },
    /// Only that the call was heard: the answer may still be posted within the limit.
    Heard,
}

/// The question that was asked.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) side: Side,
    pub(crate) call: CallNo,
    pub(crate) ask: Ask,
    pub(crate) match_id: &'a MatchId,
    pub(crate) game: &'a GameType,
}

impl Asked<'_> {
    /// What came of the call.
    pub(crate) fn understand(self, came: &Result<Exchange, CallError>) -> Understood {
        match came {
            Ok(exchange) => self.read(&exchange.body),
            Err(error) => self.failed(match error.kind {
                Failure::TimedOut => CallFault::TimedOut,
                Failure::TooLong => CallFault::Unreadable,
                Failure::Unreachable(_) | Failure::Refused | Failure::Unwritable(_) => CallFault::Unreachable,
            }),
        }
    }

    fn read(self, body: &[u8]) -> Understood {
        let Ok(layers) = Layers::parse(body) else { return self.failed(CallFault::Unreadable) };
        let (side, call) = (self.side, Some(self.call));
        match self.ask {
            Ask::Join => {
                let reading = layers.join(self.match_id);
                let input = match reading.said {
                    JoinAnswer::Joined { nonce } => Input::Joined { side, call, nonce },
                    JoinAnswer::Declined => Input::Declined { side, call },
                    JoinAnswer::Error(_) => return self.failed(CallFault::Unreadable),
                    JoinAnswer::Nothing => return Understood::Heard,
                };
                Understood::Said { input, quirks: reading.quirks }
            }
            Ask::Move => {
                let reading = if *self.game == GameType::even_odd() {
                    layers.parity(self.match_id)
                } else {
                    layers.game_move(self.match_id)
                };
                let text = match reading.said {
                    MoveAnswer::Move(text) => text,
                    // The game refuses it, and says what a move would have been.
                    MoveAnswer::Invalid(text) => SmolStr::new(text),
                    MoveAnswer::Error(_) => return self.failed(CallFault::Unreadable),
                    MoveAnswer::Nothing => return Understood::Heard,
                };
                let input = Input::Moved { side, call, text };
                Understood::Said { input, quirks: reading.quirks }
            }
        }
    }

    fn failed(self, fault: CallFault) -> Understood {
        let input = Input::Failed { side: self.side, call: self.call, fault };
        Understood::Said { input, quirks: Quirks::default() }
    }
}
