//! The operator's actions, from calls and from pages. Each is an event beside what it caused.

use league_core::season::event::{Event, Fact, OperatorOrigin};
use league_core::season::{CommandOutcome, Season};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{MatchId, PlayerId};
use league_protocol::message::operate::{DisputeDecision, KeyRole, RotatedKey};
use league_protocol::message::report::Account;
use league_protocol::table::Method;
use league_protocol::time::Timestamp;
use league_store::log::StoredDigests;
use league_store::views::match_file::MatchFile;
use smol_str::{SmolStr, format_smolstr};

use crate::keys::generate_key;
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
            let transcript = self.shared.transcript_before(&file.match_id, file.transcript_sha256).await;
            let kept = self.shared.keep_match(MatchFile { transcript: transcript.unwrap_or_default(), ..file }).await;
            kept.map_err(|error| RequestError::new(ErrorCode::E015, Method::ResolveDispute, error.to_string()))?;
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
        let key = generate_key(&self.shared.environment);
        if let Some(lease) = self.shared.settings.lease.clone() {
            let digests = match role {
                KeyRole::Referee => StoredDigests { referee: Some(key.digest()), ..StoredDigests::default() },
                KeyRole::Player => StoredDigests { player: Some(key.digest()), ..StoredDigests::default() },
            };
            let kept = tokio::task::spawn_blocking(move || lease.keep(&digests)).await;
            let kept = kept.map_err(|error| error.to_string()).and_then(|kept| kept.map_err(|error| error.to_string()));
            kept.map_err(|why| {
                let message = format!(
                    "it is not known whether the new key was stored ({why}), so either key may count; rotate the key again"
                );
                RequestError::new(ErrorCode::E015, Method::RotateKey, message)
            })?;
        }
        self.shared.keys.replace(role, key.digest());
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
