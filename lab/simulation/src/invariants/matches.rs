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

#[derive(Clone, Debug, Default)]
pub(super) struct RunningMatches {
    limit: Duration,
    offered: BTreeMap<ConnectionId, Attempt>,
    taken: BTreeMap<(ProcessId, Attempt), SimTime>,
    reported: BTreeSet<(ProcessId, Attempt)>,
    /// Includes referees that have stopped since.
    ever_reported: BTreeSet<(ProcessId, Attempt)>,
}

impl RunningMatches {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, ..Self::default() }
    }

    pub(super) fn observe(&mut self, message: &ObservedMessage) {
        let text = String::from_utf8_lossy(&message.bytes);
        let attempt = || {
            let number = text.split_once("\"attempt\":")?.1.split(|c: char| !c.is_ascii_digit()).next()?;
            Some((field(&text, "match_id")?.to_owned(), number.to_owned()))
        };
        if message.is_request && message.arrived && text.contains("\"START_MATCH\"") {
            self.offered.extend(attempt().map(|attempt| (message.connection, attempt)));
        } else if !message.is_request && !message.arrived && message.to.is_manager() {
            if let Some(attempt) = self.offered.remove(&message.connection)
                && text.contains("\"ACCEPTED\"")
                && !self.reported.contains(&(message.from, attempt.clone()))
            {
                self.taken.entry((message.from, attempt)).or_insert(message.at);
            }
        } else if message.is_request
            && !message.arrived
            && text.contains("\"MATCH_RESULT_REPORT\"")
            && let Some(attempt) = attempt()
        {
            self.taken.remove(&(message.from, attempt.clone()));
            self.ever_reported.insert((message.from, attempt.clone()));
            self.reported.insert((message.from, attempt));
        }
    }

    pub(super) fn was_reported(&self, referee: ProcessId, match_id: &MatchId, attempt: u32) -> bool {
        self.ever_reported.contains(&(referee, (match_id.to_string(), attempt.to_string())))
    }

    /// A stopped process loses its matches.
    pub(super) fn forget(&mut self, process: ProcessId) {
        self.taken.retain(|(referee, _), _| *referee != process);
        self.reported.retain(|(referee, _)| *referee != process);
    }

    /// A report that could not be sent is missing here as well.
    pub(super) fn check(
        &self,
        at: SimTime,
        fault_log: &FaultLog,
        is_hostile: impl Fn(ProcessId) -> bool,
    ) -> Result<(), String> {
        let overdue = |(referee, since): (ProcessId, SimTime)| {
            let disturbed = fault_log.disturbed(referee, ProcessId::MANAGER, (since, at));
            at - since > self.limit && !disturbed && !is_hostile(referee)
        };
        match self.taken.iter().find(|((referee, _), since)| overdue((*referee, **since))) {
            Some(((referee, (id, attempt)), since)) => {
                Err(format!("{referee} has been at {id}, attempt {attempt}, for {:?}", at - *since))
            }
            None => Ok(()),
        }
    }
}
