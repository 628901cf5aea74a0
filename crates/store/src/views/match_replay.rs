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
    assigned: HashMap<MatchId, (RefereeId, Timestamp)>,
    explained: Option<(MatchId, Account)>,
}

impl MatchReplay {
    pub fn season(&self) -> Option<&Season> {
        self.replay.season()
    }

    /// Returns the file of the match that ended with this event.
    pub fn apply(&mut self, event: &Event) -> Result<Option<MatchFile>, ReplayError> {
        self.replay.apply(event)?;
        let Some(season) = self.replay.season() else { return Ok(None) };
        if let Fact::MatchAssigned { match_id, referee, .. } = &event.fact {
            self.assigned.insert(match_id.clone(), (referee.clone(), event.at));
        }
        if let Fact::MatchExplained { match_id, account, .. } = &event.fact {
            self.explained = Some((match_id.clone(), Account::clone(account)));
        }
        let Fact::MatchReported { match_id, attempt, record } = &event.fact else { return Ok(None) };
        let explained = self.explained.take().filter(|(explained, _)| explained == match_id);
        let account = explained.map(|(_, account)| account).unwrap_or_default();
        // The season accepted the result, so a referee held the match.
        let Some((referee, assigned_at)) = self.assigned.remove(match_id) else { return Ok(None) };
        let times = (assigned_at, event.at);
        let mut file = MatchFile::of_report(season, &referee, (match_id, *attempt), record, account, times);
        if let Some(file) = &mut file {
            file.lifecycle.started = file.lifecycle.started.or(Some(assigned_at));
        }
        Ok(file)
    }
}
