//! The phases of the matches on the first page, as their referees report them.
//!
//! The questions must not slow down the referees. So the dashboard asks at most once a second, only while a viewer
//! watches, and only about shown matches that already ran a second ago. A referee that does not know the question is
//! asked once.

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
const LIMIT: Duration = Duration::from_millis(800);

pub(crate) type Phases = HashMap<MatchId, &'static str>;

fn word(state: &str) -> Option<&'static str> {
    match state {
        "WAITING_FOR_PLAYERS" => Some("invited"),
        "COLLECTING_CHOICES" => Some("choosing"),
        "DRAWING_NUMBER" => Some("drawing"),
        "FINISHED" => Some("reporting"),
        _ => None,
    }
}

/// Never ends. Asks only once there is an operator.
pub(crate) async fn follow(shared: Arc<SharedState>, operator: impl Fn() -> Option<Arc<dyn Operator>>) {
    let mut before: HashSet<Assignment> = HashSet::new();
    let mut mute: HashSet<RefereeId> = HashSet::new();
    loop {
        sleep(PAUSE).await;
        let Some(operator) = operator().filter(|_| shared.watching() > 0) else { continue };
        let running: Vec<Assignment> = shared.snapshot().season().assignments().into_iter().take(MATCHES).collect();
        let lasting = running.iter().filter(|held| before.contains(*held) && !mute.contains(&held.referee));
        let answers = join_all(lasting.map(|held| {
            let question = timeout(LIMIT, operator.match_state(held.match_id.clone()));
            async move { (held, question.await.map(|state| state.ok().and_then(|state| word(&state.state)))) }
        }));
        let mut phases = Phases::new();
        for (held, state) in answers.await {
            match state {
                Ok(Some(phase)) => drop(phases.insert(held.match_id.clone(), phase)),
                // If the match ended meanwhile, the missing answer says nothing about the referee.
                Ok(None) if shared.snapshot().season().holds(held) => drop(mute.insert(held.referee.clone())),
                Ok(None) | Err(_) => {}
            }
        }
        before = running.into_iter().collect();
        shared.set_phases(phases);
    }
}
