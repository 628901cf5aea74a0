//! Faults of a connection: drawn when it is made, and logged when they hit.

use std::time::Duration;

use crate::process_id::ProcessId;
use crate::rng::Rng;
use crate::sim_time::SimTime;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Direction {
    There,
    Back,
}

impl Direction {
    pub fn opposite(self) -> Self {
        match self {
            Self::There => Self::Back,
            Self::Back => Self::There,
        }
    }
}

/// What is to happen to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectionFault {
    Fair,
    Refused,
    Unheard,
    /// It breaks after so many bytes in one direction. Zero bytes back: the question is handled, its answer is lost.
    Cut(Direction, u64),
    /// It goes silent after so many bytes in one direction, unnoticed.
    Mute(Direction, u64),
    /// Everything takes longer by this much.
    Slow(Duration),
    /// The first thing that is said arrives once more, so much later, on a connection of its own.
    Doubled(Duration),
}

/// How bad it is, in fates per thousand connections.
#[derive(Clone, Copy, Debug, Default)]
pub struct FaultRates {
    pub unreachable: u64,
    pub cut: u64,
    pub mute: u64,
    pub slow: u64,
    pub doubled: u64,
}

impl FaultRates {
    /// The fate of the next connection.
    pub fn fate(&self, rng: &mut Rng) -> ConnectionFault {
        let throw = rng.within(0, 999);
        let mut limit = 0;
        let mut is = |share: u64| {
            limit += share;
            throw < limit
        };
        if is(self.unreachable) {
            return if rng.happens(500) { ConnectionFault::Refused } else { ConnectionFault::Unheard };
        }
        let (cut, mute) = (is(self.cut), is(self.mute));
        if cut || mute {
            let way = if rng.happens(500) { Direction::There } else { Direction::Back };
            // A message has about a thousand bytes; several may share a connection.
            let bytes = if rng.happens(250) { 0 } else { rng.within(0, 4000) };
            return if cut { ConnectionFault::Cut(way, bytes) } else { ConnectionFault::Mute(way, bytes) };
        }
        if is(self.slow) {
            return ConnectionFault::Slow(rng.millis(100, 6000));
        }
        if is(self.doubled) {
            return ConnectionFault::Doubled(rng.millis(0, 4000));
        }
        ConnectionFault::Fair
    }
}

/// A time in which nothing gets from one place to another. What was sent meanwhile arrives when it is over: that is what
/// TCP is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partition {
    pub from: ProcessId,
    pub to: ProcessId,
    pub begins: SimTime,
    pub ends: SimTime,
}

impl Partition {
    /// Whether it keeps what is said `from` here `to` there at this moment.
    pub fn keeps(&self, from: ProcessId, to: ProcessId, at: SimTime) -> bool {
        (self.from, self.to) == (from, to) && self.begins <= at && at < self.ends
    }
}
