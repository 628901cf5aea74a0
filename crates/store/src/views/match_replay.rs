//! Replays a log and makes the match file of every result, without transcripts, which only referees have.

use std::collections::HashMap;

use league_core::replay::{Replay, ReplayError};
use league_core::season::Season;
use league_core::season::event::{Event, Fact};
use league_protocol::id::{MatchId, RefereeId};
use league_protocol::message::report::Account;
use league_protocol::time::Timestamp;

use super::match_file::MatchFile;

#[derive(Debug, Default)]
pub struct MatchReplay {
    replay: Replay,
    /// The attempts at each match without a result.
    assigned: HashMap<MatchId, Vec<(u32, RefereeId)>>,
    explained: Option<(MatchId, Account)>,
}

/// What the log says about a match with a result.
#[derive(Clone, Debug)]
pub struct ReplayedMatch {
    /// As the manager writes it from the log: without a transcript.
    pub from_log: MatchFile,
    /// Whether its referee wrote the file into the manager's home.
    pub in_home: bool,
    /// The attempts before this one, which did not count. Their referees may have written a file.
    pub earlier: Vec<(u32, RefereeId)>,
}

impl ReplayedMatch {
    /// The file as its writer made it. A referee in the manager's home takes the time of its last message, `last_entry`,
    /// for the end of the match; the manager takes the time of the result.
    pub fn file(&self, last_entry: Option<Timestamp>) -> MatchFile {
        let mut file = self.from_log.clone();
        if let Some(last) = last_entry.filter(|_| self.in_home) {
            (file.lifecycle.finished, file.last_updated) = (Some(last), last);
        }
        file
    }
}

impl MatchReplay {
    pub fn season(&self) -> Option<&Season> {
        self.replay.season()
    }

    /// The attempts at a match that has no result.
    pub fn attempts(&self, match_id: &MatchId) -> &[(u32, RefereeId)] {
        self.assigned.get(match_id).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the match that ended with this event.
    pub fn apply(&mut self, event: &Event) -> Result<Option<ReplayedMatch>, ReplayError> {
        self.replay.apply(event)?;
        let Some(season) = self.replay.season() else { return Ok(None) };
        if let Fact::MatchAssigned { match_id, attempt, referee, .. } = &event.fact {
            self.assigned.entry(match_id.clone()).or_default().push((*attempt, referee.clone()));
        }
        if let Fact::MatchExplained { match_id, account, .. } = &event.fact {
            self.explained = Some((match_id.clone(), Account::clone(account)));
        }
        let Fact::MatchReported { match_id, attempt, record, .. } = &event.fact else { return Ok(None) };
        let explained = self.explained.take().filter(|(explained, _)| explained == match_id);
        let account = explained.map(|(_, account)| account).unwrap_or_default();
        let mut earlier = self.assigned.remove(match_id).unwrap_or_default();
        // The season accepted the result, so a referee held the match.
        let Some((_, referee)) = earlier.pop() else { return Ok(None) };
        let in_home = account.in_your_home;
        let from_log = MatchFile::of_report(season, &referee, (match_id, *attempt), record, account, event.at);
        Ok(from_log.map(|from_log| ReplayedMatch { from_log, in_home, earlier }))
    }
}
