//! Replay: the season that the events of a log lead to.

use thiserror::Error;

use crate::season::event::Event;
use crate::season::{BadEvent, Season};

/// A season on its way through a log, and the number of the last event that it has applied.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Replay {
    season: Option<Season>,
    seq: u64,
}

/// An event that cannot follow the events before it.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("event {seq} cannot be applied: {reason}")]
pub struct ReplayError {
    pub seq: u64,
    pub reason: BadEvent,
}

impl Replay {
    /// Applies the next event; the first one opens the league. After an error nothing has changed.
    pub fn apply(&mut self, event: &Event) -> Result<(), ReplayError> {
        let applied = match &mut self.season {
            Some(season) => season.apply(event),
            None => Season::replay([event]).map(|season| self.season = Some(season)),
        };
        applied.map_err(|reason| ReplayError { seq: self.seq + 1, reason })?;
        self.seq += 1;
        Ok(())
    }

    /// `None` before the first event.
    pub fn season(&self) -> Option<&Season> {
        self.season.as_ref()
    }

    /// The number of the last event.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The season; an error when there was no event.
    pub fn finish(self) -> Result<Season, ReplayError> {
        self.season.ok_or(ReplayError { seq: 1, reason: BadEvent::NotOpened })
    }
}
