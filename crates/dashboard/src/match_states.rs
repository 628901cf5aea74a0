//! What referees say about running matches, asked at most once in half a second for all viewers of a match.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use league_protocol::id::MatchId;
use league_protocol::message::step::MatchState;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::operate::ActionFuture;

const FRESH: Duration = Duration::from_millis(500);
const LIMIT: Duration = Duration::from_millis(800);
/// Matches that are asked about at the same time; the oldest answers make room.
const MATCHES: usize = 256;

type Answer = Arc<OnceCell<Option<Arc<MatchState>>>>;

#[derive(Debug, Default)]
pub(crate) struct MatchStates(Mutex<HashMap<MatchId, (Instant, Answer)>>);

impl MatchStates {
    /// `None` when the referee does not answer in time.
    pub(crate) async fn of<'a>(
        &self,
        match_id: &MatchId,
        ask: impl FnOnce() -> ActionFuture<'a, MatchState>,
    ) -> Option<Arc<MatchState>> {
        let answer = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MATCHES {
                known.retain(|_, (asked, _)| asked.elapsed() < FRESH);
            }
            match known.get(match_id).filter(|(asked, _)| asked.elapsed() < FRESH) {
                Some((_, answer)) => Arc::clone(answer),
                None => {
                    let answer = Answer::default();
                    known.insert(match_id.clone(), (Instant::now(), Arc::clone(&answer)));
                    answer
                }
            }
        };
        let asked = answer.get_or_init(|| async { timeout(LIMIT, ask()).await.ok()?.ok().map(Arc::new) });
        asked.await.clone()
    }
}
