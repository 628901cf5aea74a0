//! Waits until the players of a round have heard their results: a referee reports first and tells the players afterwards.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use league_protocol::id::MatchId;
use tokio::sync::Notify;
use tokio::time::timeout;

/// Then the manager goes on without the confirmation.
const LIMIT: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(crate) struct GameOverBarrier {
    reported: Mutex<HashSet<MatchId>>,
    confirmed: Notify,
}

impl GameOverBarrier {
    fn reported(&self) -> MutexGuard<'_, HashSet<MatchId>> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The referee has reported the match and now tells its players.
    pub(crate) fn expect(&self, match_id: MatchId) {
        self.reported().insert(match_id);
    }

    pub(crate) fn confirm(&self, match_ids: &[MatchId]) {
        let mut reported = self.reported();
        reported.retain(|match_id| !match_ids.contains(match_id));
        if reported.is_empty() {
            self.confirmed.notify_waiters();
        }
    }

    /// Forgets what is missing after the limit.
    pub(crate) async fn wait(&self) {
        let all_told = async {
            loop {
                let confirmed = self.confirmed.notified();
                tokio::pin!(confirmed);
                // Registered before the look, so that no confirmation is missed.
                confirmed.as_mut().enable();
                if self.reported().is_empty() {
                    return;
                }
                confirmed.await;
            }
        };
        if timeout(LIMIT, all_told).await.is_err() {
            let missing = std::mem::take(&mut *self.reported());
            tracing::warn!(matches = missing.len(), "referees have not confirmed that the players know the results");
        }
    }
}
