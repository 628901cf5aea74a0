//! How long referees take for their matches, as the manager sees it: from accepting one to the first report.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use league_protocol::id::MatchId;

use crate::fault_log::FaultLog;
use crate::invariants::field;
use crate::net::{ConnectionId, ObservedMessage};
use crate::process_id::ProcessId;
use crate::sim_time::SimTime;

/// The match id and the attempt, as in the message.
type Attempt = (String, String);

#[derive(Clone, Debug)]
pub(super) struct RunningMatches {
    limit: Duration,
    offered: BTreeMap<ConnectionId, Attempt>,
    taken: BTreeMap<(ProcessId, Attempt), SimTime>,
    reported: BTreeSet<(ProcessId, Attempt)>,
    /// Includes referees that have stopped since.
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

    pub(super) fn was_told(&self, referee: ProcessId, match_id: &MatchId, attempt: u32) -> bool {
        self.told.contains(&(referee, (match_id.to_string(), attempt.to_string())))
    }

    /// A stopped process loses its matches.
    pub(super) fn forget(&mut self, place: ProcessId) {
        self.taken.retain(|(referee, _), _| *referee != place);
        self.reported.retain(|(referee, _)| *referee != place);
    }

    /// A report that could not be sent is missing here as well.
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
