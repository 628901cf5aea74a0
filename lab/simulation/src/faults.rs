//! Faults of a connection: drawn when it is made, and logged when they take effect.

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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectionFault {
    Fair,
    Refused,
    Unheard,
    /// Breaks after this many bytes in one direction. With zero bytes back the request is handled and its answer is
    /// lost.
    Cut(Direction, u64),
    /// Loses everything after this many bytes in one direction, unnoticed.
    Mute(Direction, u64),
    /// Adds this delay to everything.
    Slow(Duration),
    /// The first message arrives again, this much later, on a separate connection.
    Doubled(Duration),
}

/// Per thousand connections.
#[derive(Clone, Copy, Debug, Default)]
pub struct FaultRates {
    pub unreachable: u64,
    pub cut: u64,
    pub mute: u64,
    pub slow: u64,
    pub doubled: u64,
}

impl FaultRates {
    pub fn draw(&self, rng: &mut Rng) -> ConnectionFault {
        let roll = rng.within(0, 999);
        let mut limit = 0;
        let mut is = |share: u64| {
            limit += share;
            roll < limit
        };
        if is(self.unreachable) {
            return if rng.happens(500) { ConnectionFault::Refused } else { ConnectionFault::Unheard };
        }
        let (cut, mute) = (is(self.cut), is(self.mute));
        if cut || mute {
            let direction = if rng.happens(500) { Direction::There } else { Direction::Back };
            // A message has about a thousand bytes; several may share a connection.
            let bytes = if rng.happens(250) { 0 } else { rng.within(0, 4000) };
            return if cut { ConnectionFault::Cut(direction, bytes) } else { ConnectionFault::Mute(direction, bytes) };
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

/// Delays everything from one process to another. As with TCP, it arrives when the partition ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partition {
    pub from: ProcessId,
    pub to: ProcessId,
    pub begins: SimTime,
    pub ends: SimTime,
}

impl Partition {
    pub fn keeps(&self, from: ProcessId, to: ProcessId, at: SimTime) -> bool {
        (self.from, self.to) == (from, to) && self.begins <= at && at < self.ends
    }
}
