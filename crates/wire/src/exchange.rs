//! What came of a call: an answer or an error, and the receipt for its time.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use league_protocol::error::ErrorCode;
use league_protocol::problem::Problem;
use league_protocol::request::MAX_BODY;
use league_protocol::time::Timestamp;

use crate::endpoint::Endpoint;

/// An answer, whatever its status, and not yet read.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The HTTP status. An answer counts whatever this says.
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub receipt: Receipt,
}

/// The time that a call took, measured here with the monotonic clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Receipt {
    /// When it was sent, by the wall clock.
    pub sent_at: Timestamp,
    /// From then until the answer had begun: its status and headers were there.
    pub first_byte: Option<Duration>,
    /// From then until the answer was whole.
    pub last_byte: Option<Duration>,
    pub limit: Duration,
    /// What it was granted beyond that, because we ourselves were late; see [`crate::runtime_lag`].
    pub granted: Duration,
    /// From its sending until it was given up, where no answer came.
    pub given_up: Option<Duration>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallError {
    pub kind: Failure,
    pub receipt: Receipt,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The last byte was not there in time.
    TimedOut,
    /// No program listens there: the connection was refused.
    NotListening,
    /// No connection for another reason: why.
    Unreachable(String),
    /// The peer took the connection and closed it before its answer was whole: how that showed.
    HungUp(String),
    /// More than [`MAX_BODY`] bytes.
    TooLong,
    /// Not even tried: the endpoint failed too often of late.
    Refused,
    /// Our own message could not be written: why.
    Unwritable(String),
}

impl CallError {
    /// The league's code, where it has one: E001 or E009. An answer that is too long is one that cannot be read, and not a
    /// matter of the connection; a message that cannot be written is our own trouble.
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

    /// What to tell the peer about it, which listens at `endpoint`; nothing where it is our own trouble.
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

    /// Whether the peer was asked and could not be reached or was too slow: what a further try may mend.
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
