//! Inputs of a match.
//!
//! Calls and pauses share one sequence of numbers. For each effect with a [`CallNumber`] the caller returns exactly one input
//! with that number. An input with a number that is not open is late and changes nothing.

use league_protocol::draw::{DrawNonce, Signature};
use league_protocol::quirk::Quirk;
use league_protocol::side::Side;
use smol_str::SmolStr;

use super::refusal::PostRefusal;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallNumber(pub u32);

/// An answer without a call is one that the player posted on its own; some players do so after they acknowledged the call. It
/// counts like an answer to the call while the side owes that answer, also during the pause before the next try. Later inputs of
/// that call or pause are then late.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    Start,
    Joined {
        side: Side,
        call: Option<CallNumber>,
        nonce: DrawNonce,
        signature: Option<Signature>,
    },
    Declined {
        side: Side,
        call: Option<CallNumber>,
    },
    /// A move, legal or not.
    Moved {
        side: Side,
        call: Option<CallNumber>,
        text: SmolStr,
        signature: Option<Signature>,
    },
    Failed {
        side: Side,
        call: CallNumber,
        fault: CallFailure,
    },
    PauseOver {
        side: Side,
        call: CallNumber,
    },
    /// Also when the side did not acknowledge it.
    GameOverSent {
        side: Side,
        call: CallNumber,
    },
    Reported(ReportDelivery),
}

/// What became of the report.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ReportDelivery {
    /// The result counts, or no manager decides whether it does: in a friendly match, and under a manager of another implementation.
    Accepted,
    /// The manager could not be reached; the referee keeps trying. The players get a provisional result.
    Undelivered,
    /// The manager refused the report, so the result does not count, and the players get none.
    Refused,
}

/// A call that the player acknowledged but did not answer yet is still open, not failed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallFailure {
    /// The last byte of the answer did not arrive in time.
    TimedOut,
    Unreachable,
    Unreadable,
    Refused(PostRefusal),
    /// The referee understood the answer, but the league is strict.
    Irregular(Quirk),
}
