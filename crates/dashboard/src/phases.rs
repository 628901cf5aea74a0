//! In which phase the matches on the first page are, as their referees tell.
//!
//! Nobody who plays is in a hurry to tell: referees are asked once a second at most, about no more matches than the page shows, only while
//! somebody watches, and only about matches that were being played a second ago. A league that plays faster than people read is never
//! asked, and a referee that does not know the question is asked once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use league_core::season::Assignment;
use league_protocol::id::{MatchId, RefereeId};
use tokio::time::{sleep, timeout};

use crate::operate::Operator;
use crate::pages::league::MATCHES;
use crate::shared_state::SharedState;

const PAUSE: Duration = Duration::from_secs(1);
/// What takes longer is not waited for.
const LIMIT: Duration = Duration::from_millis(800);

/// The phases that are known, in a word each.
pub(crate) type Phases = HashMap<MatchId, &'static str>;

/// A phase as people read it, by its name in the protocol.
fn word(state: &str) -> Option<&'static str> {
    match state {
        "WAITING_FOR_PLAYERS" => Some("invited"),
        "COLLECTING_CHOICES" => Some("choosing"),
        "DRAWING_NUMBER" => Some("drawing"),
        "FINISHED" => Some("reporting"),
        _ => None,
    }
}

/// Asks, without end. There is nobody to ask before there is an operator.
pub(crate) async fn follow(stage: Arc<SharedState>, operator: impl Fn() -> Option<Arc<dyn Operator>>) {
    let mut before: HashSet<Assignment> = HashSet::new();
    let mut mute: HashSet<RefereeId> = HashSet::new();
    loop {
        sleep(PAUSE).await;
        let Some(operator) = operator().filter(|_| stage.watching() > 0) else { continue };
        let running: Vec<Assignment> = stage.story().season().assignments().into_iter().take(MATCHES).collect();
        let lasting = running.iter().filter(|held| before.contains(*held) && !mute.contains(&held.referee));
        let asked = join_all(lasting.map(|held| {
            let looking = timeout(LIMIT, operator.look(held.match_id.clone()));
            async move { (held, looking.await.map(|state| state.ok().and_then(|state| word(&state.state)))) }
        }));
        let mut phases = Phases::new();
        for (held, state) in asked.await {
            match state {
                Ok(Some(phase)) => drop(phases.insert(held.match_id.clone(), phase)),
                // It may have ended meanwhile, which is no answer to hold against anybody.
                Ok(None) if stage.story().season().holds(held) => drop(mute.insert(held.referee.clone())),
                Ok(None) | Err(_) => {}
            }
        }
        before = running.into_iter().collect();
        stage.set_phases(phases);
    }
}
