//! Replays a league and makes a match file for every result: all but the transcripts, which only referees have.

use std::collections::HashMap;

use league_core::replay::{Replay, ReplayError};
use league_core::season::Season;
use league_core::season::event::{Event, Fact};
use league_protocol::id::{MatchId, RefereeId};
use league_protocol::message::report::Account;
use league_protocol::side::Pair;
use league_protocol::time::Timestamp;
use smol_str::SmolStr;

use super::match_file::{MatchContext, MatchFile};

#[derive(Debug, Default)]
pub struct MatchReplay {
    replay: Replay,
    /// The referee of each open match, and when it took it.
    taken: HashMap<MatchId, (RefereeId, Timestamp)>,
    /// What the referee reported about the match whose result comes next.
    explained: Option<(MatchId, Account)>,
}

impl MatchReplay {
    /// The season at this point; none before the first event.
    pub fn season(&self) -> Option<&Season> {
        self.replay.season()
    }

    /// Applies the next event. Returns the file of the match that ended with it.
    pub fn apply(&mut self, event: &Event) -> Result<Option<MatchFile>, ReplayError> {
        self.replay.apply(event)?;
        let Some(season) = self.replay.season() else { return Ok(None) };
        match &event.fact {
            Fact::MatchAssigned { match_id, referee, .. } => {
                self.taken.insert(match_id.clone(), (referee.clone(), event.at));
                Ok(None)
            }
            Fact::MatchExplained { match_id, account, .. } => {
                self.explained = Some((match_id.clone(), Account::clone(account)));
                Ok(None)
            }
            Fact::MatchReported { match_id, attempt, record } => {
                let explained = self.explained.take().filter(|(told, _)| told == match_id);
                // The event was applied, so a referee held the match and the schedule has it.
                let Some((referee_id, taken)) = self.taken.remove(match_id) else { return Ok(None) };
                let (Some(players), Some((round_id, _))) = (season.contestants(match_id), match_id.parts()) else {
                    return Ok(None);
                };
                let occasion = MatchContext {
                    league_id: season.config().league_id.clone(),
                    round_id,
                    match_id: match_id.clone(),
                    attempt: *attempt,
                    game_type: season.config().game_type.clone(),
                    players: Pair::new(players.a.id.clone(), players.b.id.clone()),
                    referee_id,
                };
                let mut file = MatchFile::new(occasion, taken);
                file.lifecycle.started = Some(taken);
                let names = Pair::new(players.a.id.as_str(), players.b.id.as_str());
                let reason = record.reason(&season.config().game_type, names).map(SmolStr::new);
                file.finish(record, &season.config().scoring.match_points(), reason, event.at);
                if let Some((_, account)) = explained {
                    file.explain(account);
                }
                Ok(Some(file))
            }
            Fact::Opened { .. }
            | Fact::PlayerRegistered { .. }
            | Fact::RefereeRegistered { .. }
            | Fact::PlayerReturned { .. }
            | Fact::RefereeReturned { .. }
            | Fact::RegistrationClosed
            | Fact::RegistrationReopened
            | Fact::PlayerWithdrawn { .. }
            | Fact::RoundStarted { .. }
            | Fact::MatchReturned { .. }
            | Fact::RefereeLost { .. }
            // Nothing was said in a match that was not played.
            | Fact::MatchAwarded { .. }
            | Fact::RoundCompleted { .. }
            | Fact::LeagueCompleted
            | Fact::Halted
            | Fact::AgentLearned { .. }
            | Fact::Resumed => Ok(None),
        }
    }
}
