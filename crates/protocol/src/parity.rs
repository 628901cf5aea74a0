use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a player bets on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Parity {
    /// 2, 4, 6, 8, 10.
    Even,
    /// 1, 3, 5, 7, 9.
    Odd,
}

impl Parity {
    pub fn of(number: u8) -> Self {
        if number.is_multiple_of(2) { Self::Even } else { Self::Odd }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Odd => "odd",
        }
    }

    pub fn opposite(self) -> Self {
        match self {
            Self::Even => Self::Odd,
            Self::Odd => Self::Even,
        }
    }

    /// Accepts the exact text only: a move is never guessed.
    pub fn exact(text: &str) -> Option<Self> {
        match text {
            "even" => Some(Self::Even),
            "odd" => Some(Self::Odd),
            _ => None,
        }
    }

    /// For the PARITY_CHOICE form, whose own document writes capitals.
    pub fn folded(text: &str) -> Option<Self> {
        [Self::Even, Self::Odd].into_iter().find(|parity| parity.as_str().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for Parity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parity_is_exactly_even_or_odd() {
        assert_eq!(Parity::exact("even"), Some(Parity::Even));
        assert_eq!(Parity::exact("odd"), Some(Parity::Odd));
        for not in ["EVEN", "Even", " even", "even ", "0", "e", "", "maybe"] {
            assert_eq!(Parity::exact(not), None, "{not:?}");
        }
        assert_eq!(Parity::folded("EVEN"), Some(Parity::Even));
        assert_eq!(Parity::folded("maybe"), None);
    }

    #[test]
    fn even_numbers_have_even_parity() {
        let even: Vec<u8> = (1..=10).filter(|n| Parity::of(*n) == Parity::Even).collect();
        assert_eq!(even, [2, 4, 6, 8, 10]);
    }
}
