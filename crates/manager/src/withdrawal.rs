//! Withdraws players and tells them: one by one, or all that a schedule leaves out.

use std::sync::Arc;

use league_core::season::LeaguePhase;
use league_core::season::agent::{AgentId, RegisteredPlayer};
use league_protocol::error::RequestError;
use league_protocol::id::{PlayerId, RefereeId};
use league_protocol::message::operate::{CreateSchedule, ScheduleAnswer};
use league_store::views::MATCH_FILES;
use smol_str::format_smolstr;

use crate::manager::Manager;
use crate::match_dispatch::referee_of;
use crate::notices::{self, Recipient};

impl Manager {
    /// Waits until the withdrawal is durable, but not for the player, which may not answer.
    pub async fn withdraw(&self, player: PlayerId) -> Result<(), RequestError> {
        let taken_out = self.act(format_smolstr!("withdraw_player {player}"), move |season, now| {
            let ruling = season.withdraw(&player, now)?;
            // In a running league the player may be in a match and must finish it. It hears of the end like the others.
            let may_leave = season.phase() != LeaguePhase::RunningLeague;
            let reply = ruling.reply.map(|player| (player, may_leave));
            Ok(league_core::season::CommandOutcome { events: ruling.events, reply })
        });
        let Some((player, may_leave)) = taken_out.await? else { return Ok(()) };
        self.tell_withdrawn(&player, may_leave);
        Ok(())
    }

    /// Closes registration and pairs the named players, or all. Players that are not named are withdrawn.
    pub(crate) async fn schedule(&self, wanted: CreateSchedule) -> Result<ScheduleAnswer, RequestError> {
        let league_handle = &self.shared.league_handle;
        let out = self
            .act("create_schedule", move |season, now| season.schedule_players(wanted.players.as_deref(), now))
            .await?;
        for player in out {
            self.tell_withdrawn(&player, true);
        }
        let made = league_handle.read(|season, _| {
            let rounds = season.scheduled_rounds();
            let listed = season.total_matches() <= MATCH_FILES;
            ScheduleAnswer {
                league_id: season.config().league_id.clone(),
                matches: rounds.iter().filter(|_| listed).flat_map(|round| round.matches.clone()).collect(),
                rounds,
                total_matches: season.status().total_matches,
            }
        });
        made.await
    }

    fn tell_withdrawn(&self, player: &RegisteredPlayer, may_leave: bool) {
        let shared = Arc::clone(&self.shared);
        let recipient = Recipient::player(player, &shared.league).into_iter().collect();
        let told = notices::withdrawn(&shared.league, &AgentId::Player(player.id.clone()), may_leave);
        tokio::spawn(async move { shared.tell(recipient, told).await });
    }

    /// Other referees play its open matches. It is told to leave.
    pub async fn withdraw_referee(&self, referee: RefereeId) -> Result<(), RequestError> {
        let action = format_smolstr!("withdraw_referee {referee}");
        let (wanted, shared) = (referee.clone(), Arc::clone(&self.shared));
        shared.interrupt_all(&referee).await?;
        self.act(action, move |season, now| season.withdraw_referee(&wanted, now)).await?;
        shared.polls.wake(&referee);
        let agent = AgentId::Referee(referee.clone());
        let told = notices::withdrawn(&shared.league, &agent, true);
        let recipient = shared.league_handle.read(move |season, _| referee_of(season, &referee)).await?;
        tokio::spawn(async move { shared.tell(recipient.into_iter().collect(), told).await });
        Ok(())
    }
}
