use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The two sides of a match.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
pub enum Side {
    /// The player named first; moves first where a game has turns.
    #[serde(rename = "PLAYER_A")]
    A,
    /// The player named second.
    #[serde(rename = "PLAYER_B")]
    B,
}

impl FromStr for Side {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "PLAYER_A" => Ok(Self::A),
            "PLAYER_B" => Ok(Self::B),
            _ => Err(()),
        }
    }
}

impl Side {
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    pub fn index(self) -> usize {
        match self {
            Self::A => 0,
            Self::B => 1,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Pair<T> {
    pub a: T,
    pub b: T,
}

impl<T> Pair<T> {
    pub fn new(a: T, b: T) -> Self {
        Self { a, b }
    }

    pub fn from_fn(mut make: impl FnMut(Side) -> T) -> Self {
        Self { a: make(Side::A), b: make(Side::B) }
    }

    pub fn as_ref(&self) -> Pair<&T> {
        Pair { a: &self.a, b: &self.b }
    }

    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> Pair<U> {
        Pair { a: change(self.a), b: change(self.b) }
    }

    pub fn both(&self, mut test: impl FnMut(&T) -> bool) -> bool {
        test(&self.a) && test(&self.b)
    }
}

impl<T> std::ops::Index<Side> for Pair<T> {
    type Output = T;
    fn index(&self, side: Side) -> &T {
        match side {
            Side::A => &self.a,
            Side::B => &self.b,
        }
    }
}

impl<T> std::ops::IndexMut<Side> for Pair<T> {
    fn index_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::A => &mut self.a,
            Side::B => &mut self.b,
        }
    }
}
