//! Telling those who come back when all is over: an agent that was away at the end would wait for matches for ever.

use std::sync::Arc;
use std::time::Duration;

use league_core::season::agent::AgentId;
use league_core::season::{Phase, Registered, Season};
use tokio::time::sleep;

use crate::manager::Shared;
use crate::notices::{self, Listener, Notice};

/// The pauses before it is told. First its registration has to be answered, for the end is told with a pass of the new token;
/// and who was slow to read the answer hears it again.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(2)];

impl Shared {
    /// Has an agent told that the league is over, if it has registered and the league is.
    pub(crate) fn tell_latecomer(self: &Arc<Self>, registered: &Registered) {
        let Registered::Admitted(admitted) = registered else { return };
        let (shared, id) = (Arc::clone(self), admitted.id.clone());
        tokio::spawn(async move {
            for pause in PAUSES {
                let told = id.clone();
                let due = shared.desk.look(move |season, _| end_for(season, &told)).await;
                let Ok(Some((listener, notice))) = due else { return };
                sleep(pause).await;
                shared.tell(vec![listener], &[notice], Duration::ZERO).await;
            }
        });
    }
}

/// The end of the league, and where `id` hears of it; nothing before the end.
fn end_for(season: &Season, id: &AgentId) -> Option<(Listener, Notice)> {
    if season.phase() != Phase::LeagueCompleted {
        return None;
    }
    let agents = match id {
        AgentId::Player(_) => Listener::players(season),
        AgentId::Referee(_) => Listener::referees(season),
    };
    let listener = agents.into_iter().find(|listener| listener.id == *id)?;
    Some((listener, notices::league_over(season)))
}
