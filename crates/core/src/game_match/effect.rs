//! What a match asks its shell to do.

use std::time::Duration;

use league_protocol::problem::Problem;
use league_protocol::quirk::Quirk;
use league_protocol::side::Side;
use thiserror::Error;

use super::ending::ForfeitReason;
use super::input::{CallFailure, CallNumber};
use super::refusal::PostRefusal;
use crate::rules::game::IllegalMove;

/// Effects of one side are carried out in order. Effects of different sides may run at the same time; their calls must.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Invite a side. Answered by `Joined`, `Declined` or `Failed`.
    Invite { side: Side, call: CallNumber, try_number: u8, limit: Duration },
    /// Ask a side for a move. Answered by `Moved` or `Failed`.
    AskMove { side: Side, call: CallNumber, try_number: u8, limit: Duration },
    /// Tell a side what was wrong, before it is asked again. Its answer does not matter, and nothing waits for it.
    TellError {
        side: Side,
        ask: AskKind,
        complaint: AttemptError,
        tries_made: u8,
        /// How many it has in all; always more than it has made.
        tries_allowed: u8,
        /// How long it is left in peace before the next.
        pause: Duration,
    },
    /// Wait before a side is asked again. Answered by `PauseOver`.
    Pause { side: Side, call: CallNumber, span: Duration },
    /// Tell a side how the match ended. Answered by `Told`, whether it heard or not.
    TellOver { side: Side, call: CallNumber, limit: Duration },
    /// Report the ending to the manager; once in a match. Answered by `Reported`.
    Report,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AskKind {
    Join,
    Move,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum AttemptError {
    #[error("no answer in time")]
    TimedOut,
    #[error("no connection")]
    Unreachable,
    /// The answer said nothing which was asked for.
    #[error("the answer cannot be read")]
    Unreadable,
    /// Nothing came but posted answers that do not count.
    #[error("{}", .0.advice())]
    Refused(PostRefusal),
    /// A strict league does not take it.
    #[error("a strict league refuses {0}; {advice}", advice = .0.advice())]
    Irregular(Quirk),
    /// The rules do not allow it.
    #[error(transparent)]
    Illegal(#[from] IllegalMove),
}

impl AttemptError {
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
            Self::Refused(PostRefusal::WrongToken) => Problem::WrongToken,
            Self::Refused(PostRefusal::NoToken) => Problem::NoToken,
            Self::Refused(refusal @ (PostRefusal::OtherAddress | PostRefusal::Contradiction)) => {
                Problem::post_refused(*refusal, refusal.advice())
            }
            Self::Irregular(quirk) => Problem::Irregular { quirk: *quirk },
            Self::Illegal(illegal) => Problem::illegal(&illegal.found, &illegal.allowed),
        }
    }

    /// Why the side forfeits, when this was its last try.
    pub fn fault(&self) -> ForfeitReason {
        match self {
            Self::TimedOut => ForfeitReason::TimedOut,
            Self::Unreachable => ForfeitReason::Unreachable,
            Self::Unreadable | Self::Irregular(_) => ForfeitReason::Unreadable,
            Self::Refused(refusal) => ForfeitReason::Refused(*refusal),
            Self::Illegal(_) => ForfeitReason::IllegalMoves,
        }
    }
}

impl From<CallFailure> for AttemptError {
    fn from(fault: CallFailure) -> Self {
        match fault {
            CallFailure::TimedOut => Self::TimedOut,
            CallFailure::Unreachable => Self::Unreachable,
            CallFailure::Unreadable => Self::Unreadable,
            CallFailure::Refused(refusal) => Self::Refused(refusal),
            CallFailure::Irregular(quirk) => Self::Irregular(quirk),
        }
    }
}
