//! The operator's actions, from calls and from pages. Each is an event beside what it caused.

use league_core::season::event::{Event, Fact, OperatorOrigin};
use league_core::season::{CommandOutcome, Season};
use league_protocol::error::RequestError;
use league_protocol::id::{MatchId, PlayerId};
use league_protocol::message::operate::{DisputeDecision, KeyRole, RotatedKey};
use league_protocol::message::report::Account;
use league_protocol::time::Timestamp;
use league_store::views::match_file::MatchFile;
use smol_str::{SmolStr, format_smolstr};

use crate::manager::Manager;

impl Manager {
    pub async fn start_league(&self) -> Result<(), RequestError> {
        self.act("start_league", |season, now| season.start(now)).await
    }

    pub async fn stop_league(&self) -> Result<(), RequestError> {
        self.act("stop_league", |season, now| season.stop(now)).await
    }

    pub async fn reopen_registration(&self) -> Result<(), RequestError> {
        self.act("reopen_registration", |season, now| season.reopen(now)).await
    }

    pub async fn resolve_dispute(&self, match_id: MatchId, decision: DisputeDecision) -> Result<(), RequestError> {
        let action = format_smolstr!("resolve_dispute {match_id} {}", decision.as_str());
        if decision == DisputeDecision::Uphold {
            let wanted = match_id.clone();
            let suspended = self.shared.league_handle.read(move |season, _| season.suspended_by_upholding(&wanted));
            for referee in suspended.await? {
                self.shared.interrupt_all(&referee).await?;
            }
        }
        let resolved = self.act(action, move |season, now| {
            let events = season.resolve(&match_id, decision, now)?.events;
            let file = contested_file(season, &match_id, &events);
            Ok(CommandOutcome { events, reply: file })
        });
        if let Some(file) = resolved.await? {
            self.shared.keep_match(file).await;
        }
        Ok(())
    }

    pub(crate) async fn forget_dialect(&self, player: PlayerId) -> Result<(), RequestError> {
        let action = format_smolstr!("forget_dialect {player}");
        self.act(action, move |season, now| season.forget_dialect(&player, now)).await
    }

    pub(crate) async fn rotate_key(&self, role: KeyRole) -> Result<RotatedKey, RequestError> {
        self.act(format_smolstr!("rotate_key {role}"), |_, _| Ok(CommandOutcome { events: Vec::new(), reply: () }))
            .await?;
        let key = self.shared.keys.rotate(role, &self.shared.environment);
        Ok(RotatedKey { role, key })
    }

    /// The action is recorded in the same append as its effects, and only if the season accepts it.
    pub(crate) async fn act<T: Send + 'static>(
        &self,
        action: impl Into<SmolStr>,
        decide: impl FnOnce(&Season, Timestamp) -> Result<CommandOutcome<T>, RequestError> + Send + 'static,
    ) -> Result<T, RequestError> {
        let has_token = self.shared.settings.operator.is_some();
        let origin = if has_token { OperatorOrigin::Token } else { OperatorOrigin::Loopback };
        let fact = Fact::OperatorActed { origin, action: action.into() };
        self.shared
            .league_handle
            .command(move |season, now| {
                let mut outcome = decide(season, now)?;
                let at = outcome.events.first().map_or(now, |event| event.at);
                outcome.events.push(Event { at, fact });
                Ok(outcome)
            })
            .await
    }
}

/// The file of a report that counts by the operator's decision, unless the referee wrote it into the manager's home.
fn contested_file(season: &Season, match_id: &MatchId, events: &[Event]) -> Option<MatchFile> {
    let mut counted = None;
    let mut told = Account::default();
    for event in events {
        if let Fact::MatchReported { attempt, record, .. } = &event.fact {
            counted = Some((*attempt, record, event.at));
        } else if let Fact::MatchExplained { account, .. } = &event.fact {
            told = Account::clone(account);
        }
    }
    let (attempt, record, at) = counted.filter(|_| !told.in_your_home)?;
    MatchFile::of_report(season, season.suspended_referee(match_id)?, (match_id, attempt), record, told, at)
}
