//! The operator's actions, from calls and from pages. Each is an event beside what it caused.

use league_core::season::event::{Event, Fact, OperatorOrigin};
use league_core::season::{CommandOutcome, Season};
use league_protocol::error::RequestError;
use league_protocol::id::{MatchId, PlayerId};
use league_protocol::message::operate::{DisputeDecision, KeyRole, RotatedKey};
use league_protocol::time::Timestamp;
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
        self.act(action, move |season, now| season.resolve(&match_id, decision, now)).await
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
