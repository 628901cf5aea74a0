//! Errors under both of their names: the league's E-code and JSON-RPC's number.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::id::MatchId;
use crate::table::Method;
use crate::time::Timestamp;

pub const PARSE_ERROR: i32 = -32700;
pub const INVALID_REQUEST: i32 = -32600;
pub const METHOD_NOT_FOUND: i32 = -32601;
pub const INVALID_PARAMS: i32 = -32602;
pub const INTERNAL_ERROR: i32 = -32603;

macro_rules! catalogue {
    ($($(#[$doc:meta])* $code:ident = $number:literal $name:literal $(($retryable:ident))? ;)*) => {
        /// The league's error codes.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
        pub enum ErrorCode {
            $($(#[$doc])* $code,)*
        }

        impl ErrorCode {
            pub const ALL: &'static [Self] = &[$(Self::$code),*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$code => stringify!($code),)* }
            }

            pub fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)* }
            }

            pub fn number(self) -> i32 {
                match self { $(Self::$code => $number,)* }
            }

            pub fn retryable(self) -> bool {
                match self { $(Self::$code => catalogue!(@retryable $($retryable)?),)* }
            }
        }
    };
    (@retryable retryable) => { true };
    (@retryable) => { false };
}

catalogue! {
    /// No answer within the limit.
    E001 = 1 "TIMEOUT_ERROR" (retryable);
    /// A field that is there has a wrong type, length or value, or contradicts another one.
    E002 = 2 "INVALID_FIELD";
    /// A required field is missing.
    E003 = 3 "MISSING_REQUIRED_FIELD";
    /// A move that the rules do not know.
    E004 = 4 "INVALID_PARITY_CHOICE";
    /// No such player.
    E005 = 5 "PLAYER_NOT_REGISTERED";
    /// No such match, or not this referee's.
    E007 = 7 "MATCH_NOT_FOUND";
    /// No such league here.
    E008 = 8 "LEAGUE_NOT_FOUND";
    /// The peer cannot be reached.
    E009 = 9 "CONNECTION_ERROR" (retryable);
    /// Right in itself, but not now.
    E010 = 10 "INVALID_STATE";
    /// A token is needed and none was given.
    E011 = 11 "AUTH_TOKEN_MISSING";
    /// The token is wrong or has expired.
    E012 = 12 "AUTH_TOKEN_INVALID";
    /// No such referee.
    E013 = 13 "REFEREE_NOT_REGISTERED";
    /// Too many requests.
    E014 = 14 "RATE_LIMITED" (retryable);
    /// Our own trouble.
    E015 = 15 "INTERNAL_ERROR";
    /// Another agent has this name.
    E017 = 17 "DUPLICATE_NAME";
    /// Another protocol, or too old a version of it.
    E018 = 18 "PROTOCOL_VERSION_MISMATCH";
    /// Too late to register.
    E019 = 19 "REGISTRATION_CLOSED";
    /// No place left.
    E020 = 20 "LEAGUE_FULL";
    /// A timestamp that is not UTC.
    E021 = 21 "INVALID_TIMESTAMP";
}

impl ErrorCode {
    /// The course's contracts give each family of calls a range of a thousand (1001 … 6003). Cases without such a number use JSON-RPC's
    /// own, and the rest use the number of their E-code.
    pub fn rpc(self, method: Option<Method>) -> i32 {
        use ErrorCode::*;
        let family = method.and_then(Method::family).unwrap_or(0);
        match (family, self) {
            (1, E020) => 1001,
            (1, E017) => 1004,
            (1, E019) => 1005,
            (2, E020) => 2001,
            (2, E017) => 2002,
            (2, E019) => 2005,
            (3..=6, E011 | E012) => family * 1000 + 1,
            (3, E005) => 3002,
            (4, E005) => 4002,
            (4, E007) => 4003,
            (4, E004) => 4004,
            (4, E010) => 4005,
            (5, E007) => 5002,
            (6, E008) => 6003,
            (_, E002 | E003 | E018 | E021) => INVALID_PARAMS,
            (_, E015) => INTERNAL_ERROR,
            (_, E001 | E004 | E005 | E007 | E008 | E009 | E010 | E011 | E012 | E013 | E014 | E017 | E019 | E020) => {
                self.number()
            }
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.as_str(), self.name())
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct RequestError {
    pub code: Option<ErrorCode>,
    pub rpc: i32,
    /// Says how to fix the request. Never holds a secret.
    pub message: String,
    pub field: Option<String>,
    /// In seconds.
    pub retry_after: Option<u32>,
    /// Set for a repeated report: the match and the time of the first report.
    pub previous_report: Option<(MatchId, Timestamp)>,
}

impl RequestError {
    pub fn new(code: ErrorCode, method: impl Into<Option<Method>>, message: impl Into<String>) -> Self {
        let rpc = code.rpc(method.into());
        Self { code: Some(code), rpc, message: message.into(), field: None, retry_after: None, previous_report: None }
    }

    pub fn rpc(rpc: i32, message: impl Into<String>) -> Self {
        Self { code: None, rpc, message: message.into(), field: None, retry_after: None, previous_report: None }
    }

    /// For cases that the contracts number without an E-code.
    #[must_use]
    pub fn numbered(mut self, rpc: i32) -> Self {
        self.rpc = rpc;
        self
    }

    #[must_use]
    pub fn about(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Name and sentence, as in JSON-RPC's `message`.
    pub fn headline(&self) -> String {
        match self.code {
            Some(code) => format!("{}: {}", code.name(), self.message),
            None => self.message.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_timeouts_connection_errors_and_rate_limits_are_retryable() {
        let retryable: Vec<_> =
            ErrorCode::ALL.iter().filter(|code| code.retryable()).map(|code| code.as_str()).collect();
        assert_eq!(retryable, ["E001", "E009", "E014"]);
    }

    #[test]
    fn names_and_numbers_agree() {
        for code in ErrorCode::ALL {
            assert_eq!(code.as_str(), format!("E{:03}", code.number()));
        }
    }

    #[test]
    fn the_contracts_numbers_are_used_where_they_exist() {
        let cases = [
            (ErrorCode::E020, Method::RegisterReferee, 1001),
            (ErrorCode::E020, Method::RegisterPlayer, 2001),
            (ErrorCode::E017, Method::RegisterPlayer, 2002),
            (ErrorCode::E012, Method::NotifyRound, 3001),
            (ErrorCode::E012, Method::GameInvitation, 4001),
            (ErrorCode::E007, Method::ChooseParity, 4003),
            (ErrorCode::E004, Method::ChooseParity, 4004),
            (ErrorCode::E012, Method::ReportMatchResult, 5001),
            (ErrorCode::E007, Method::ReportMatchResult, 5002),
            (ErrorCode::E011, Method::LeagueQuery, 6001),
            (ErrorCode::E008, Method::LeagueQuery, 6003),
            (ErrorCode::E002, Method::ReportMatchResult, INVALID_PARAMS),
            (ErrorCode::E003, Method::LeagueQuery, INVALID_PARAMS),
        ];
        for (code, method, number) in cases {
            assert_eq!(code.rpc(Some(method)), number, "{code} for {method:?}");
        }
        assert_eq!(ErrorCode::E012.rpc(None), 12);
    }
}
