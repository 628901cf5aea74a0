use std::time::Duration;

use league_protocol::problem::Problem;
use league_protocol::quirk::Quirk;
use league_protocol::side::Side;
use thiserror::Error;

use super::ending::ForfeitReason;
use super::input::{CallFailure, CallNumber};
use super::refusal::PostRefusal;
use crate::rules::game::IllegalMove;

/// The caller performs the effects of one side in order. Calls to different sides must run concurrently.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Answered by `Joined`, `Declined` or `Failed`.
    Invite { side: Side, call: CallNumber, try_number: u8, limit: Duration },
    /// Answered by `Moved` or `Failed`.
    AskMove { side: Side, call: CallNumber, try_number: u8, limit: Duration },
    /// Explains an error to a side before the next try. The match does not wait for an answer.
    SendError {
        side: Side,
        ask: AskKind,
        attempt_error: AttemptError,
        tries_made: u8,
        /// Always more than the tries made so far.
        tries_allowed: u8,
        pause: Duration,
    },
    /// Answered by `PauseOver`.
    Pause { side: Side, call: CallNumber, span: Duration },
    /// Emitted once per match, before any `SendGameOver`. Answered by `Reported`.
    Report,
    /// Answered by `GameOverSent`, even if the call failed.
    SendGameOver { side: Side, call: CallNumber, limit: Duration },
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
    #[error("the answer cannot be read")]
    Unreadable,
    /// The player only posted answers that do not count.
    #[error("{}", .0.advice())]
    Refused(PostRefusal),
    #[error("a strict league refuses {0}; {advice}", advice = .0.advice())]
    Irregular(Quirk),
    #[error(transparent)]
    Illegal(#[from] IllegalMove),
}

impl AttemptError {
    /// Whether the player may be overloaded or restarting, so that an immediate retry would fail again.
    pub fn needs_pause(&self) -> bool {
        match self {
            Self::TimedOut | Self::Unreachable => true,
            Self::Unreadable | Self::Refused(_) | Self::Irregular(_) | Self::Illegal(_) => false,
        }
    }

    /// What the referee tells the player when it knows nothing more specific. `limit` was the time for the answer.
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
