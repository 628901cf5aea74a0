//! Compares `standings.json` and `rounds.json` with the log. Each names the number of events that it shows.

use std::path::PathBuf;
use std::{fs, io};

use league_core::season::Season;
use serde::Deserialize;
use serde_json::Value;

use super::difference::Findings;

/// The bytes of a table at a state of the log.
type Render = fn(&Season) -> io::Result<Vec<u8>>;

pub(super) struct TableCheck {
    path: PathBuf,
    render: Render,
    /// `None` if the file is missing.
    found: Option<Vec<u8>>,
    events: Option<u64>,
    /// The bytes that the log gives at `events`.
    expected: Option<Vec<u8>>,
}

impl TableCheck {
    pub(super) fn read(path: PathBuf, render: Render) -> io::Result<Self> {
        #[derive(Deserialize)]
        struct Named {
            events: u64,
        }
        let found = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            read => Some(read?),
        };
        let named = found.as_deref().and_then(|bytes| serde_json::from_slice::<Named>(bytes).ok());
        Ok(Self { path, render, found, events: named.map(|named| named.events), expected: None })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Called with each state of the log.
    pub(super) fn see(&mut self, season: &Season) -> io::Result<()> {
        if self.events == Some(season.events()) {
            self.expected = Some((self.render)(season)?);
        }
        Ok(())
    }

    /// `last` is the last state of the log.
    pub(super) fn finish(self, last: &Season, in_play: bool, findings: &mut Findings) -> io::Result<()> {
        let latest = (self.render)(last)?;
        match (self.found, self.expected) {
            // The manager writes tables from the first round on, and may be late while it runs.
            (None, _) if last.rounds_completed() == 0 => {}
            (None, _) if in_play => findings.stale(&self.path, "it is not written yet"),
            (None, _) => findings.differs(&self.path, "the file", "missing", "what the log gives"),
            (Some(found), Some(expected)) if found == expected => {
                if shown(&found) != shown(&latest) {
                    let (events, all) = (self.events.unwrap_or_default(), last.events());
                    findings.stale(&self.path, format!("it shows {events} of {all} events"));
                }
            }
            (Some(found), Some(expected)) => findings.compare(&self.path, &found, &expected),
            (Some(found), None) => match self.events {
                Some(events) if events > last.events() => {
                    findings.differs(&self.path, "events", events.to_string(), format!("at most {}", last.events()));
                }
                Some(_) | None => findings.compare(&self.path, &found, &latest),
            },
        }
        Ok(())
    }
}

/// The document without the fields that tell which state it shows: events that change no table follow.
fn shown(document: &[u8]) -> Value {
    let mut document = serde_json::from_slice::<Value>(document).unwrap_or_default();
    if let Some(members) = document.as_object_mut() {
        members.retain(|name, _| name != "events" && name != "last_updated");
    }
    document
}
