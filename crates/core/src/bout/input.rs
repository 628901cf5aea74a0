//! What a match is told.
//!
//! Calls and pauses are numbered together. Whoever carries out an effect that has a [`CallNo`] owes the match exactly one
//! input that names it; whatever names another number than the one that is open is late, and changes nothing.

use league_protocol::draw::DrawNonce;
use league_protocol::quirk::Quirk;
use league_protocol::side::Side;
use smol_str::SmolStr;

use super::refusal::Refusal;

/// The number of one call or pause within its match.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallNo(pub u32);

/// What a match is told.
///
/// An answer without a call is one that the player posted by itself, as some players do after they acknowledged the call.
/// It counts like the answer to the call whenever the side owes exactly that answer: while the call is open, and also in
/// the pause before the next try. Whatever the call or the pause still brings is then late.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    /// Begin.
    Start,
    /// A side accepts the invitation.
    Joined {
        /// Who.
        side: Side,
        /// The call that it answers.
        call: Option<CallNo>,
        /// What it adds to the draw.
        nonce: DrawNonce,
    },
    /// A side refuses the invitation.
    Declined {
        /// Who.
        side: Side,
        /// The call that it answers.
        call: Option<CallNo>,
    },
    /// A side moves, or tries to.
    Moved {
        /// Who.
        side: Side,
        /// The call that it answers.
        call: Option<CallNo>,
        /// The move, as it was received.
        text: SmolStr,
    },
    /// An invitation or a call for a move brought no answer.
    Failed {
        /// Whose.
        side: Side,
        /// Which call.
        call: CallNo,
        /// In which way.
        fault: CallFault,
    },
    /// A pause is over.
    PauseOver {
        /// Whose.
        side: Side,
        /// The pause.
        call: CallNo,
    },
    /// A side has been told of the end, or telling it was given up.
    Told {
        /// Who.
        side: Side,
        /// The call that told it.
        call: CallNo,
    },
    /// The ending is in the manager's hands, or reporting it was given up.
    Reported,
}

/// How a call can fail. A call that was acknowledged, but not yet answered, is still open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallFault {
    /// The last byte of an answer was not there in time.
    TimedOut,
    /// No connection, or it broke.
    Unreachable,
    /// An answer that says nothing which was asked for.
    Unreadable,
    /// Nothing but posted answers that do not count.
    Refused(Refusal),
    /// An answer that a strict league does not take, although it could be understood.
    Irregular(Quirk),
}
