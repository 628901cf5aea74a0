//! Compares the manager's entries in `agents_config.json` with the log.
//!
//! The operator may write the file, too. Its entries, and keys that it adds to the manager's entries, are not checked.

use std::path::PathBuf;
use std::{fs, io};

use league_core::season::Season;
use league_protocol::id::LeagueId;
use serde_json::Value;

use super::difference::{Findings, first};
use crate::home::Home;
use crate::views::register::{BY_MANAGER, LOG_STATE, RegisterFile, WRITTEN_BY, managers_digest};

pub(super) struct RegisterCheck {
    path: PathBuf,
    /// `None` if the file is missing.
    found: Option<Vec<u8>>,
    parsed: Value,
    /// The number of events that the file shows, if it is about this league.
    events: Option<u64>,
    /// The first entry that differs from the log at that number of events.
    different: Option<(String, String, String)>,
}

impl RegisterCheck {
    pub(super) fn read(home: &Home, league: &LeagueId) -> io::Result<Self> {
        let path = home.agents_config();
        let found = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            read => Some(read?),
        };
        // Editors on Windows write a byte order mark.
        let text = found.as_deref().map(|text| text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text));
        let parsed: Value = text.and_then(|text| serde_json::from_slice(text).ok()).unwrap_or_default();
        let state = &parsed[LOG_STATE];
        let events = state["events"].as_u64().filter(|_| state["league_id"] == league.as_str());
        Ok(Self { path, found, parsed, events, different: None })
    }

    /// Called with each state of the log.
    pub(super) fn see(&mut self, season: &Season) {
        if self.events == Some(season.events()) {
            let different = RegisterFile::of(season, None).differing_agents(&self.parsed);
            self.different = different.into_iter().find_map(|(place, found, expected)| first(&found, &expected, place));
        }
    }

    /// `last` is the last state of the log.
    pub(super) fn finish(self, last: &Season, in_play: bool, findings: &mut Findings) {
        let Self { path, found, parsed, events, different } = self;
        let has_agents = !last.players().is_empty() || !last.referees().is_empty();
        match found {
            None if has_agents && in_play => findings.stale(&path, "it is not written yet"),
            None if has_agents => findings.differs(&path, "the file", "missing", "the registered agents"),
            None => {}
            Some(_) if !parsed.is_object() => findings.unreadable(&path, &"it is not a JSON object"),
            Some(_) if parsed.get(LOG_STATE).is_none() => {
                if is_by_manager(&parsed) {
                    findings.differs(&path, LOG_STATE, "missing", "the state of the log that the entries show");
                } else if has_agents {
                    findings.stale(&path, "the manager has not written its agents yet");
                }
            }
            Some(_) => {
                let (noted, right) = (&parsed[LOG_STATE]["sha256"], managers_digest(&parsed));
                if let Some((field, found, expected)) = different {
                    findings.differs(&path, &field, found, expected);
                } else if noted != right.as_str() {
                    findings.differs(&path, "log_state.sha256", noted.to_string(), right);
                } else if let Some(events) = events {
                    let all = last.events();
                    let latest = RegisterFile::of(last, None);
                    if events > all {
                        findings.differs(&path, "log_state.events", events.to_string(), format!("at most {all}"));
                    } else if !latest.differing_agents(&parsed).is_empty() || !latest.is_complete_in(&parsed) {
                        findings.stale(&path, format!("it shows {events} of {all} events"));
                    }
                }
            }
        }
    }
}

fn is_by_manager(file: &Value) -> bool {
    let agents = ["referees", "players"].into_iter().filter_map(|list| file[list].as_array()).flatten();
    agents.chain([&file["league_manager"]]).any(|entry| entry[WRITTEN_BY] == BY_MANAGER)
}
