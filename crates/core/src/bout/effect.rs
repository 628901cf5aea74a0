//! What a match wants done.

use std::time::Duration;

use league_protocol::problem::Problem;
use league_protocol::quirk::Quirk;
use league_protocol::side::Side;
use thiserror::Error;

use super::ending::Fault;
use super::input::{CallFault, CallNo};
use super::refusal::Refusal;
use crate::rules::game::IllegalMove;

/// What a match wants done, in this order as far as the same side is concerned. Effects for different sides may be carried
/// out at the same time; both sides' calls must be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Invite a side. Answered by `Joined`, `Declined` or `Failed`.
    Invite {
        /// Whom.
        side: Side,
        /// This call.
        call: CallNo,
        /// Which try it is, from one.
        try_number: u8,
        /// How long the side has.
        limit: Duration,
    },
    /// Ask a side for a move. Answered by `Moved` or `Failed`.
    AskMove {
        /// Whom.
        side: Side,
        /// This call.
        call: CallNo,
        /// Which try it is, from one.
        try_number: u8,
        /// How long the side has.
        limit: Duration,
    },
    /// Tell a side what was wrong, before it is asked again. Its answer does not matter, and nothing waits for it.
    TellError {
        /// Whom.
        side: Side,
        /// What it had been asked for.
        ask: Ask,
        /// What was wrong.
        complaint: Complaint,
        /// How many of its tries are used up.
        tries_made: u8,
        /// How many it has in all; always more than it has made.
        tries_allowed: u8,
        /// How long it is left in peace before the next.
        pause: Duration,
    },
    /// Wait before a side is asked again. Answered by `PauseOver`.
    Pause {
        /// Whose pause.
        side: Side,
        /// This pause.
        call: CallNo,
        /// How long.
        span: Duration,
    },
    /// Tell a side how the match ended. Answered by `Told`, whether it heard or not.
    TellOver {
        /// Whom.
        side: Side,
        /// This call.
        call: CallNo,
        /// How long the side has to acknowledge.
        limit: Duration,
    },
    /// Report the ending to the manager; once in a match. Answered by `Reported`.
    Report,
}

/// What a side is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ask {
    /// To join.
    Join,
    /// To move.
    Move,
}

/// What was wrong with a try.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Complaint {
    /// Nothing came in time.
    #[error("no answer in time")]
    TimedOut,
    /// There was nobody to be asked.
    #[error("no connection")]
    Unreachable,
    /// The answer said nothing which was asked for.
    #[error("the answer cannot be read")]
    Unreadable,
    /// Nothing came but posted answers that do not count.
    #[error("{}", .0.advice())]
    Refused(Refusal),
    /// A strict league does not take it.
    #[error("a strict league refuses {0}; {advice}", advice = .0.advice())]
    Irregular(Quirk),
    /// The rules do not allow it.
    #[error(transparent)]
    Illegal(#[from] IllegalMove),
}

impl Complaint {
    /// Whether the player may just be overloaded or restarting, so that asking again at once would be of no use.
    pub fn needs_pause(&self) -> bool {
        match self {
            Self::TimedOut | Self::Unreachable => true,
            Self::Unreadable | Self::Refused(_) | Self::Irregular(_) | Self::Illegal(_) => false,
        }
    }

    /// What to tell the player, which had `limit` for its answer, where no more is known than this.
    pub fn problem(&self, limit: Duration) -> Problem {
        match self {
            Self::TimedOut => Problem::silent(limit),
            Self::Unreachable => Problem::unreachable("the registered address", "no connection"),
            Self::Unreadable => Problem::Unknown,
            Self::Refused(Refusal::WrongToken) => Problem::WrongToken,
            Self::Refused(Refusal::NoToken) => Problem::NoToken,
            Self::Refused(refusal @ (Refusal::OtherAddress | Refusal::Contradiction)) => {
                Problem::post_refused(*refusal, refusal.advice())
            }
            Self::Irregular(quirk) => Problem::Irregular { quirk: *quirk },
            Self::Illegal(illegal) => Problem::illegal(&illegal.found, &illegal.allowed),
        }
    }

    /// Why the side forfeits, when this was its last try.
    pub fn fault(&self) -> Fault {
        match self {
            Self::TimedOut => Fault::TimedOut,
            Self::Unreachable => Fault::Unreachable,
            Self::Unreadable | Self::Irregular(_) => Fault::Unreadable,
            Self::Refused(refusal) => Fault::Refused(*refusal),
            Self::Illegal(_) => Fault::IllegalMoves,
        }
    }
}

impl From<CallFault> for Complaint {
    fn from(fault: CallFault) -> Self {
        match fault {
            CallFault::TimedOut => Self::TimedOut,
            CallFault::Unreachable => Self::Unreachable,
            CallFault::Unreadable => Self::Unreadable,
            CallFault::Refused(refusal) => Self::Refused(refusal),
            CallFault::Irregular(quirk) => Self::Irregular(quirk),
        }
    }
}
