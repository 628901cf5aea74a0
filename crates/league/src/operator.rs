//! Runs the operator's actions on the pages through the manager.

use std::time::Duration;

use league_dashboard::operate::{ActionFuture, Operator, OperatorAction, OperatorStep};
use league_manager::Manager;
use league_protocol::id::{MatchId, RefereeId};
use league_protocol::message::step::{MatchState, MatchStep};
use league_protocol::table::Call;

#[derive(Debug)]
pub(crate) struct AtManager(pub(crate) Manager);

impl Operator for AtManager {
    fn act(&self, action: OperatorAction) -> ActionFuture<'_, ()> {
        Box::pin(async move {
            match action {
                OperatorAction::Start => self.0.start_league().await,
                OperatorAction::Stop => self.0.stop_league().await,
                OperatorAction::Reopen => self.0.reopen_registration().await,
                OperatorAction::Withdraw(player) => self.0.withdraw(player).await,
                OperatorAction::Step(match_id, step) => self.0.step(match_id, call(step)).await,
            }
        })
    }

    fn referee_latency(&self, referee: &RefereeId) -> Option<Duration> {
        self.0.referee_latency(referee)
    }

    fn match_state(&self, match_id: MatchId) -> ActionFuture<'_, MatchState> {
        Box::pin(self.0.lead(match_id, Call::GetMatchState))
    }
}

fn call(step: OperatorStep) -> fn(MatchStep) -> Call {
    match step {
        OperatorStep::CollectChoices => Call::CollectChoices,
        OperatorStep::DrawNumber => Call::DrawNumber,
        OperatorStep::FinalizeMatch => Call::FinalizeMatch,
    }
}
