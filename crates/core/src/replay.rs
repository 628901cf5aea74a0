use thiserror::Error;

use crate::season::event::Event;
use crate::season::{BadEvent, Season};

/// A season during replay, and the number of the last event applied.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Replay {
    season: Option<Season>,
    seq: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("event {seq} cannot be applied: {reason}")]
pub struct ReplayError {
    pub seq: u64,
    pub reason: BadEvent,
}

impl Replay {
    /// The first event opens the league. An error leaves the state unchanged.
    pub fn apply(&mut self, event: &Event) -> Result<(), ReplayError> {
        let applied = match &mut self.season {
            Some(season) => season.apply(event),
            None => Season::replay([event]).map(|season| self.season = Some(season)),
        };
        applied.map_err(|reason| ReplayError { seq: self.seq + 1, reason })?;
        self.seq += 1;
        Ok(())
    }

    pub fn season(&self) -> Option<&Season> {
        self.season.as_ref()
    }

    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Fails if there was no event.
    pub fn finish(self) -> Result<Season, ReplayError> {
        self.season.ok_or(ReplayError { seq: 1, reason: BadEvent::NotOpened })
    }
}
