//! What the network does to a connection: drawn when the connection is made, and told to the ledger when it strikes.

use std::time::Duration;

use crate::dice::Dice;
use crate::moment::Moment;
use crate::place::Place;

/// A direction within a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Way {
    /// From whoever connected.
    There,
    /// Back to it.
    Back,
}

impl Way {
    /// The other one.
    pub fn opposite(self) -> Self {
        match self {
            Self::There => Self::Back,
            Self::Back => Self::There,
        }
    }
}

/// What is to happen to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Nothing.
    Fair,
    /// It is refused.
    Refused,
    /// Nobody ever hears of it.
    Unheard,
    /// It breaks after so many bytes in one direction. Zero bytes back: the question is handled, its answer is lost.
    Cut(Way, u64),
    /// It goes silent after so many bytes in one direction, and nobody notices.
    Mute(Way, u64),
    /// Everything takes longer by this much.
    Slow(Duration),
    /// The first thing that is said arrives once more, so much later, on a connection of its own.
    Doubled(Duration),
}

/// How bad it is, in fates per thousand connections.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weather {
    /// Refused or unheard.
    pub unreachable: u64,
    /// Cut.
    pub cut: u64,
    /// Gone silent.
    pub mute: u64,
    /// Slow.
    pub slow: u64,
    /// Doubled.
    pub doubled: u64,
}

impl Weather {
    /// The fate of the next connection.
    pub fn fate(&self, dice: &mut Dice) -> Fate {
        let throw = dice.within(0, 999);
        let mut limit = 0;
        let mut is = |share: u64| {
            limit += share;
            throw < limit
        };
        if is(self.unreachable) {
            return if dice.happens(500) { Fate::Refused } else { Fate::Unheard };
        }
        let (cut, mute) = (is(self.cut), is(self.mute));
        if cut || mute {
            let way = if dice.happens(500) { Way::There } else { Way::Back };
            // A message has about a thousand bytes; several may share a connection.
            let bytes = if dice.happens(250) { 0 } else { dice.within(0, 4000) };
            return if cut { Fate::Cut(way, bytes) } else { Fate::Mute(way, bytes) };
        }
        if is(self.slow) {
            return Fate::Slow(dice.millis(100, 6000));
        }
        if is(self.doubled) {
            return Fate::Doubled(dice.millis(0, 4000));
        }
        Fate::Fair
    }
}

/// A time in which nothing gets from one place to another. What was sent meanwhile arrives when it is over: that is what
/// TCP is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partition {
    /// From here.
    pub from: Place,
    /// To there.
    pub to: Place,
    /// Since when.
    pub begins: Moment,
    /// Until when.
    pub ends: Moment,
}

impl Partition {
    /// Whether it keeps what is said `from` here `to` there at this moment.
    pub fn keeps(&self, from: Place, to: Place, at: Moment) -> bool {
        (self.from, self.to) == (from, to) && self.begins <= at && at < self.ends
    }
}
