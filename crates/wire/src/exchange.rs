//! The outcome of a call: an answer or an error, and the receipt for its time.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use league_protocol::error::ErrorCode;
use league_protocol::problem::Problem;
use league_protocol::request::MAX_BODY;
use league_protocol::time::Timestamp;

use crate::endpoint::Endpoint;

#[derive(Clone, Debug)]
pub struct Exchange {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub receipt: Receipt,
}

/// The duration of a call by the monotonic clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Receipt {
    pub sent_at: Timestamp,
    /// Time from `sent_at` until status and headers arrived.
    pub first_byte: Option<Duration>,
    /// Time from `sent_at` until the last byte arrived.
    pub last_byte: Option<Duration>,
    pub limit: Duration,
    /// Extra time because our own runtime was late; see [`crate::runtime_lag`].
    pub granted: Duration,
    /// Time from `sent_at` until the client gave up.
    pub given_up: Option<Duration>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallError {
    pub kind: Failure,
    pub receipt: Receipt,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    TimedOut,
    /// The connection was refused: no program listens there.
    NotListening,
    /// No connection for another reason.
    Unreachable(String),
    /// The peer closed the connection before its answer was complete.
    HungUp(String),
    TooLong,
    /// The call was not sent, because its circuit is open.
    Refused,
    /// Our own message could not be serialized.
    Unwritable(String),
}

impl CallError {
    /// An answer that is too long has no code: it is unreadable rather than a connection error.
    pub fn code(&self) -> Option<ErrorCode> {
        match self.kind {
            Failure::TimedOut => Some(ErrorCode::E001),
            Failure::NotListening | Failure::Unreachable(_) | Failure::HungUp(_) | Failure::Refused => {
                Some(ErrorCode::E009)
            }
            Failure::TooLong => None,
            Failure::Unwritable(_) => Some(ErrorCode::E015),
        }
    }

    /// The advice for the author of the peer; `None` if nothing was sent.
    pub fn problem(&self, endpoint: &Endpoint) -> Option<Problem> {
        match &self.kind {
            Failure::TimedOut => Some(Problem::silent(self.receipt.limit)),
            Failure::NotListening => Some(Problem::not_listening(endpoint)),
            Failure::Unreachable(why) => Some(Problem::unreachable(endpoint, why)),
            Failure::HungUp(_) => Some(Problem::HungUp),
            Failure::TooLong => Some(Problem::TooLong),
            Failure::Refused | Failure::Unwritable(_) => None,
        }
    }

    /// True if a retry may help.
    pub fn is_transient(&self) -> bool {
        match self.kind {
            Failure::TimedOut | Failure::NotListening | Failure::Unreachable(_) | Failure::HungUp(_) => true,
            Failure::TooLong | Failure::Refused | Failure::Unwritable(_) => false,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Failure::TimedOut => write!(f, "no whole answer within {:?}", self.receipt.limit),
            Failure::NotListening => f.write_str("not reachable: nothing listens there"),
            Failure::Unreachable(why) => write!(f, "not reachable: {why}"),
            Failure::HungUp(why) => write!(f, "it hung up while answering: {why}"),
            Failure::TooLong => write!(f, "the answer has more than {MAX_BODY} bytes"),
            Failure::Refused => f.write_str("not tried: it failed too often of late"),
            Failure::Unwritable(why) => write!(f, "the message could not be written: {why}"),
        }
    }
}

impl std::error::Error for CallError {}
