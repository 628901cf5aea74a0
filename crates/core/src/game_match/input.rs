//! What a match is told.
//!
//! Calls and pauses are numbered together. Whoever carries out an effect that has a [`CallNumber`] owes the match exactly one
//! input that names it; whatever names another number than the one that is open is late, and changes nothing.

use league_protocol::draw::DrawNonce;
use league_protocol::quirk::Quirk;
use league_protocol::side::Side;
use smol_str::SmolStr;

use super::refusal::PostRefusal;

/// The number of one call or pause within its match.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallNumber(pub u32);

/// What a match is told.
///
/// An answer without a call is one that the player posted by itself, as some players do after they acknowledged the call.
/// It counts like the answer to the call whenever the side owes exactly that answer: while the call is open, and also in
/// the pause before the next try. Whatever the call or the pause still brings is then late.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    Start,
    Joined {
        side: Side,
        call: Option<CallNumber>,
        /// What it adds to the draw.
        nonce: DrawNonce,
    },
    Declined {
        side: Side,
        call: Option<CallNumber>,
    },
    /// A side moves, or tries to.
    Moved {
        side: Side,
        call: Option<CallNumber>,
        /// The move, as it was received.
        text: SmolStr,
    },
    /// An invitation or a call for a move brought no answer.
    Failed {
        side: Side,
        call: CallNumber,
        fault: CallFailure,
    },
    PauseOver {
        side: Side,
        call: CallNumber,
    },
    /// A side has been told of the end, or telling it was given up.
    Told {
        side: Side,
        call: CallNumber,
    },
    /// The ending is in the manager's hands, or reporting it was given up.
    Reported,
}

/// How a call can fail. A call that was acknowledged, but not yet answered, is still open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallFailure {
    /// The last byte of an answer was not there in time.
    TimedOut,
    Unreachable,
    /// An answer that says nothing which was asked for.
    Unreadable,
    /// Nothing but posted answers that do not count.
    Refused(PostRefusal),
    /// An answer that a strict league does not take, although it could be understood.
    Irregular(Quirk),
}
