//! The operator of the pages, at the desk of the manager.

use std::time::Duration;

use league_dashboard::operate::{Acting, Action, Operator, Step};
use league_manager::Manager;
use league_protocol::id::{MatchId, RefereeId};
use league_protocol::message::step::{MatchState, MatchStep};
use league_protocol::table::Call;

/// Has a manager do what the operator wants.
#[derive(Debug)]
pub(crate) struct AtManager(pub(crate) Manager);

impl Operator for AtManager {
    fn act(&self, action: Action) -> Acting<'_, ()> {
        Box::pin(async move {
            let desk = self.0.desk();
            match action {
                Action::Start => desk.act(|season, now| season.start(now)).await,
                Action::Stop => desk.act(|season, now| season.stop(now)).await,
                Action::Reopen => desk.act(|season, now| season.reopen(now)).await,
                Action::Withdraw(player) => self.0.withdraw(player).await,
                Action::Step(match_id, step) => self.0.lead(match_id, call(step)).await.map(drop),
            }
        })
    }

    fn promptness(&self, referee: &RefereeId) -> Option<Duration> {
        self.0.promptness(referee)
    }

    fn look(&self, match_id: MatchId) -> Acting<'_, MatchState> {
        Box::pin(self.0.lead(match_id, Call::GetMatchState))
    }
}

fn call(step: Step) -> fn(MatchStep) -> Call {
    match step {
        Step::CollectChoices => Call::CollectChoices,
        Step::DrawNumber => Call::DrawNumber,
        Step::FinalizeMatch => Call::FinalizeMatch,
    }
}
