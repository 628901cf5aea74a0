//! Telling those who come back what they missed. An agent that was away at the end would wait for matches for ever; a player that
//! was away when a round was announced would wait for passes that its referee does not have.

use std::sync::Arc;
use std::time::Duration;

use league_core::season::agent::AgentId;
use league_core::season::{LeaguePhase, Registered, Season};
use tokio::time::sleep;

use crate::excerpt::Told;
use crate::manager::Shared;
use crate::notices::{self, Listener};

/// The pauses before it is told. First its registration has to be answered, for the end is told with a pass of the new token;
/// and who was slow to read the answer hears it again.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(2)];

impl Shared {
    /// Has an agent that has registered told what it must know at this point of the league, if anything.
    pub(crate) fn tell_latecomer(self: &Arc<Self>, registered: &Registered) {
        let Registered::Admitted(admitted) = registered else { return };
        let (shared, id) = (Arc::clone(self), admitted.id.clone());
        tokio::spawn(async move {
            for pause in PAUSES {
                let told = id.clone();
                let due = shared.desk.read(move |season, _| due_for(season, &told)).await;
                let Ok(Some((listener, notice))) = due else { return };
                sleep(pause).await;
                shared.tell(vec![listener], vec![notice], Duration::ZERO).await;
            }
        });
    }
}

/// What `id` must know, and where it hears of it: the end of the league, or a round without passes.
fn due_for(season: &Season, id: &AgentId) -> Option<(Listener, Told)> {
    let (agents, is_player) = match id {
        AgentId::Player(_) => (Listener::players(season), true),
        AgentId::Referee(_) => (Listener::referees(season), false),
    };
    let notice = match (season.phase(), season.current_round()) {
        (LeaguePhase::LeagueCompleted, _) => notices::league_over(season),
        (LeaguePhase::RunningLeague, Some(round)) if is_player && !season.referees_show_passes() => {
            notices::announcement(season, round, false)
        }
        (LeaguePhase::WaitingForRegistrations | LeaguePhase::CreatingSchedule | LeaguePhase::RunningLeague, _) => {
            return None;
        }
    };
    let listener = agents.into_iter().find(|listener| listener.id == *id)?;
    Some((listener, notice))
}
