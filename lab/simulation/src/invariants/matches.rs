//! How long referees take over their matches, as far as the manager can hear it: from taking one to the first report of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use league_protocol::id::MatchId;

use crate::fault_log::FaultLog;
use crate::invariants::field;
use crate::net::{ConnectionId, ObservedMessage};
use crate::process_id::ProcessId;
use crate::sim_time::SimTime;

/// A match and the attempt at it, as they are written.
type Attempt = (String, String);

#[derive(Clone, Debug)]
pub(super) struct RunningMatches {
    limit: Duration,
    offered: BTreeMap<ConnectionId, Attempt>,
    taken: BTreeMap<(ProcessId, Attempt), SimTime>,
    reported: BTreeSet<(ProcessId, Attempt)>,
    /// The same, and also by referees that are gone since.
    told: BTreeSet<(ProcessId, Attempt)>,
}

impl RunningMatches {
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            limit,
            offered: BTreeMap::new(),
            taken: BTreeMap::new(),
            reported: BTreeSet::new(),
            told: BTreeSet::new(),
        }
    }

    /// What passes between the manager and a referee.
    pub(super) fn listen(&mut self, heard: &ObservedMessage) {
        let text = String::from_utf8_lossy(&heard.bytes);
        let attempt = || {
            let number = text.split_once("\"attempt\":")?.1.split(|c: char| !c.is_ascii_digit()).next()?;
            Some((field(&text, "match_id")?.to_owned(), number.to_owned()))
        };
        if heard.question && heard.arrived && text.contains("\"START_MATCH\"") {
            self.offered.extend(attempt().map(|attempt| (heard.connection, attempt)));
        } else if !heard.question && !heard.arrived && heard.to == ProcessId::MANAGER {
            if let Some(attempt) = self.offered.remove(&heard.connection)
                && text.contains("\"ACCEPTED\"")
                && !self.reported.contains(&(heard.from, attempt.clone()))
            {
                self.taken.entry((heard.from, attempt)).or_insert(heard.at);
            }
        } else if heard.question
            && !heard.arrived
            && text.contains("\"MATCH_RESULT_REPORT\"")
            && let Some(attempt) = attempt()
        {
            self.taken.remove(&(heard.from, attempt.clone()));
            self.told.insert((heard.from, attempt.clone()));
            self.reported.insert((heard.from, attempt));
        }
    }

    /// Whether this referee ever told how this attempt ended.
    pub(super) fn was_told(&self, referee: ProcessId, match_id: &MatchId, attempt: u32) -> bool {
        self.told.contains(&(referee, (match_id.to_string(), attempt.to_string())))
    }

    /// A process was ended, and its matches with it.
    pub(super) fn forget(&mut self, place: ProcessId) {
        self.taken.retain(|(referee, _), _| *referee != place);
        self.reported.retain(|(referee, _)| *referee != place);
    }

    /// Whether one of them takes too long. A report that could not be sent was not heard here either.
    pub(super) fn check(&self, at: SimTime, fault_log: &FaultLog) -> Result<(), String> {
        let overdue = |(referee, since): (ProcessId, SimTime)| {
            at - since > self.limit && !fault_log.disturbed(referee, ProcessId::MANAGER, (since, at))
        };
        match self.taken.iter().find(|((referee, _), since)| overdue((*referee, **since))) {
            Some(((referee, (id, attempt)), since)) => {
                Err(format!("{referee} has been at {id}, attempt {attempt}, for {:?}", at - *since))
            }
            None => Ok(()),
        }
    }
}
