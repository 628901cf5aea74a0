//! Who has heard what is being told to everybody.
//!
//! A match begins when its referee and both players have heard of it, not when everybody has heard of theirs: one that does not answer holds up
//! its own match and no other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use league_core::season::agent::AgentId;
use tokio::sync::oneshot;

#[derive(Clone, Debug, Default)]
pub(crate) struct Hearing {
    told: HashMap<AgentId, Arc<Ear>>,
}

/// Who waits for somebody to hear; nothing once it has heard.
///
/// Whoever waits for several is woken up once, by the last: each holds a part of what says so by being dropped.
#[derive(Debug)]
struct Ear(Mutex<Option<Vec<Arc<oneshot::Sender<()>>>>>);

/// Says that somebody has heard, by being dropped.
#[derive(Debug)]
pub(crate) struct Heard(Arc<Ear>);

impl Drop for Heard {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Hearing {
    /// Expects `agent` to hear; gives what says that it has.
    pub(crate) fn expect(&mut self, agent: AgentId) -> Heard {
        let ear = Arc::new(Ear(Mutex::new(Some(Vec::new()))));
        self.told.insert(agent, Arc::clone(&ear));
        Heard(ear)
    }

    /// Waits until all of these have heard. Who is not expected to hear anything is not waited for.
    pub(crate) async fn have_heard(&self, agents: impl IntoIterator<Item = AgentId>) {
        let (part, all_dropped) = oneshot::channel();
        let part = Arc::new(part);
        for ear in agents.into_iter().filter_map(|agent| self.told.get(&agent)) {
            if let Some(waiting) = &mut *ear.0.lock().unwrap_or_else(PoisonError::into_inner) {
                waiting.push(Arc::clone(&part));
            }
        }
        drop(part);
        // Nothing is ever sent: the other end goes away, which is the news.
        drop(all_dropped.await);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use league_protocol::id::{PlayerId, RefereeId};

    use super::*;

    fn player(number: u32) -> AgentId {
        AgentId::Player(PlayerId::numbered(number))
    }

    #[tokio::test]
    async fn a_match_waits_for_its_own_people_and_for_nobody_else() {
        let mut hearing = Hearing::default();
        let [first, second, deaf] = [1, 2, 3].map(|number| hearing.expect(player(number)));
        let stranger = AgentId::Referee(RefereeId::numbered(1));
        let own = || hearing.have_heard([player(1), player(2), stranger.clone()]);
        assert!(own().now_or_never().is_none());
        drop(first);
        assert!(own().now_or_never().is_none(), "the other one has not heard");
        drop(second);
        assert!(own().now_or_never().is_some());
        assert!(hearing.have_heard([player(1), player(3)]).now_or_never().is_none());
        drop(deaf);
        hearing.have_heard([player(1), player(3)]).await;
    }
}
