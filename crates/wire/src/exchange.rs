//! What came of a call: an answer or an error, and the receipt for its time.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use league_protocol::error::ErrorCode;
use league_protocol::request::MAX_BODY;
use league_protocol::time::Timestamp;

/// An answer, whatever its status, and not yet read.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The HTTP status. An answer counts whatever this says.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// All of the body.
    pub body: Bytes,
    /// When.
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
    /// The time it had.
    pub limit: Duration,
    /// What it was granted beyond that, because we ourselves were late; see [`crate::pulse`].
    pub granted: Duration,
    /// From its sending until it was given up, where no answer came.
    pub given_up: Option<Duration>,
}

/// A call without an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallError {
    /// In which way.
    pub kind: Failure,
    /// When.
    pub receipt: Receipt,
}

/// How a call can fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The last byte was not there in time.
    TimedOut,
    /// No connection, or it broke: why.
    Unreachable(String),
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
            Failure::Unreachable(_) | Failure::Refused => Some(ErrorCode::E009),
            Failure::TooLong => None,
            Failure::Unwritable(_) => Some(ErrorCode::E015),
        }
    }

    /// Whether the peer was asked and could not be reached or was too slow: what a further try may mend.
    pub fn is_transient(&self) -> bool {
        match self.kind {
            Failure::TimedOut | Failure::Unreachable(_) => true,
            Failure::TooLong | Failure::Refused | Failure::Unwritable(_) => false,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Failure::TimedOut => write!(f, "no whole answer within {:?}", self.receipt.limit),
            Failure::Unreachable(why) => write!(f, "not reachable: {why}"),
            Failure::TooLong => write!(f, "the answer has more than {MAX_BODY} bytes"),
            Failure::Refused => f.write_str("not tried: it failed too often of late"),
            Failure::Unwritable(why) => write!(f, "the message could not be written: {why}"),
        }
    }
}

impl std::error::Error for CallError {}
