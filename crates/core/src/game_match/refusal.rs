use std::fmt;

use league_protocol::error::ErrorCode;

/// Why an answer that was posted in a player's name did not count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PostRefusal {
    WrongToken,
    NoToken,
    /// It carried no valid token and came from an address that is not the player's endpoint.
    OtherAddress,
    /// Two unproved posts contradict each other.
    Contradiction,
}

impl PostRefusal {
    pub fn code(self) -> ErrorCode {
        match self {
            Self::NoToken => ErrorCode::E011,
            Self::WrongToken | Self::OtherAddress | Self::Contradiction => ErrorCode::E012,
        }
    }

    pub fn advice(self) -> &'static str {
        match self {
            Self::WrongToken => "your posted answer shows a wrong token: send the auth_token of your last registration",
            Self::NoToken => "your posted answer shows no token: send the auth_token of your registration",
            Self::OtherAddress => {
                "a posted answer without a right token came from another address than your endpoint's: \
                 send the auth_token of your registration"
            }
            Self::Contradiction => {
                "two different answers were posted in your name: send one, with the auth_token of your registration"
            }
        }
    }
}

/// Writes a predicate that follows the player's name in a sentence.
impl fmt::Display for PostRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WrongToken => "answered with a wrong token",
            Self::NoToken => "answered without a token",
            Self::OtherAddress => "answered from another address than its endpoint's, without a right token",
            Self::Contradiction => "posted two different answers without a right token",
        })
    }
}
