//! The polls of referees that pull: which one is open, when the referee was last heard, and which matches wait for it.
//!
//! A referee has one open poll; a newer one supersedes it. The poll is the heartbeat: an open poll shows that the referee is there.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use league_core::season::Assignment;
use league_protocol::id::RefereeId;
use tokio::sync::{Notify, futures::OwnedNotified};
use tokio::time::{Instant, timeout};

#[derive(Debug, Default)]
pub(crate) struct Polls {
    referees: Mutex<HashMap<RefereeId, Polling>>,
    /// Notified when a referee has left.
    left: Notify,
    /// The league is no longer conducted, so no poll waits.
    closed: AtomicBool,
}

#[derive(Debug)]
struct Polling {
    /// The number of the newest poll.
    newest: u64,
    contact: Contact,
    /// Wakes the open poll.
    wake: Arc<Notify>,
    /// The matches whose players have been told, in the order of their assignment.
    ready: Vec<Assignment>,
    /// The referee takes no more matches.
    leaving: bool,
}

#[derive(Clone, Copy, Debug)]
enum Contact {
    Open,
    Answered(Instant),
    /// The connection ended before the answer, or there was no poll yet.
    Broken(Instant),
}

impl Polling {
    fn new() -> Self {
        let contact = Contact::Broken(Instant::now());
        Self { newest: 0, contact, wake: Arc::default(), ready: Vec::new(), leaving: false }
    }
}

/// The newest poll of a referee, until it is dropped.
pub(crate) struct OpenPoll<'a> {
    polls: &'a Polls,
    referee: RefereeId,
    number: u64,
    wake: Arc<Notify>,
    is_answered: bool,
}

impl OpenPoll<'_> {
    /// Call this before looking for work, so that no match is missed.
    pub(crate) fn woken(&self) -> OwnedNotified {
        Arc::clone(&self.wake).notified_owned()
    }

    /// Whether the referee has sent another poll since.
    pub(crate) fn is_superseded(&self) -> bool {
        self.polls.referees().get(&self.referee).is_none_or(|polling| polling.newest != self.number)
    }

    pub(crate) fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for OpenPoll<'_> {
    fn drop(&mut self) {
        let mut referees = self.polls.referees();
        let Some(polling) = referees.get_mut(&self.referee).filter(|polling| polling.newest == self.number) else {
            return;
        };
        let now = Instant::now();
        polling.contact = if self.is_answered { Contact::Answered(now) } else { Contact::Broken(now) };
    }
}

impl Polls {
    fn referees(&self) -> MutexGuard<'_, HashMap<RefereeId, Polling>> {
        self.referees.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of<T>(&self, referee: &RefereeId, with: impl FnOnce(&mut Polling) -> T) -> T {
        with(self.referees().entry(referee.clone()).or_insert_with(Polling::new))
    }

    /// Opens a poll and ends the one before it. Also returns whether that one was not answered: it is still open, or its connection
    /// ended.
    pub(crate) fn begin(&self, referee: &RefereeId) -> (OpenPoll<'_>, bool) {
        let (number, wake, was_unanswered) = self.of(referee, |polling| {
            polling.newest += 1;
            let was_unanswered = match std::mem::replace(&mut polling.contact, Contact::Open) {
                Contact::Open | Contact::Broken(_) => true,
                Contact::Answered(_) => false,
            };
            polling.wake.notify_waiters();
            (polling.newest, Arc::clone(&polling.wake), was_unanswered)
        });
        (OpenPoll { polls: self, referee: referee.clone(), number, wake, is_answered: false }, was_unanswered)
    }

    /// The players know of the match, so its referee may take it.
    pub(crate) fn offer(&self, assignment: Assignment) {
        let referee = assignment.referee.clone();
        self.of(&referee, |polling| {
            if !polling.ready.contains(&assignment) {
                polling.ready.push(assignment);
            }
            polling.wake.notify_waiters();
        });
    }

    pub(crate) fn ready(&self, referee: &RefereeId) -> Vec<Assignment> {
        self.of(referee, |polling| polling.ready.clone())
    }

    pub(crate) fn offers(&self) -> HashSet<Assignment> {
        self.referees().values().flat_map(|polling| polling.ready.iter().cloned()).collect()
    }

    pub(crate) fn forget(&self, gone: &HashSet<Assignment>) {
        self.referees().values_mut().for_each(|polling| polling.ready.retain(|ready| !gone.contains(ready)));
    }

    /// The referee registers. Its poll with the former token ends. It may not hear the answer and register again, so only a poll
    /// shows that it is there.
    pub(crate) fn registered(&self, referee: &RefereeId) {
        self.of(referee, |polling| {
            polling.newest += 1;
            (polling.leaving, polling.contact) = (false, Contact::Broken(Instant::now()));
            polling.wake.notify_waiters();
        });
    }

    pub(crate) fn leave(&self, referee: &RefereeId) {
        self.of(referee, |polling| polling.leaving = true);
        self.left.notify_waiters();
    }

    pub(crate) fn leaving(&self) -> HashSet<RefereeId> {
        let referees = self.referees();
        referees.iter().filter(|(_, polling)| polling.leaving).map(|(referee, _)| referee.clone()).collect()
    }

    /// How long the referee has not been heard; zero while its poll is open. A referee of which this manager has heard nothing since
    /// its own start counts from the first question.
    pub(crate) fn silence(&self, referee: &RefereeId) -> Duration {
        self.of(referee, |polling| match polling.contact {
            Contact::Open => Duration::ZERO,
            Contact::Answered(at) | Contact::Broken(at) => at.elapsed(),
        })
    }

    /// Whether the agent of this name is there: its poll is open, or was answered within `limit`. A connection that ended shows that
    /// its process has ended.
    pub(crate) fn is_there(&self, referee: &RefereeId, limit: Duration) -> bool {
        match self.referees().get(referee).map(|polling| polling.contact) {
            Some(Contact::Open) => true,
            Some(Contact::Answered(at)) => at.elapsed() < limit,
            Some(Contact::Broken(_)) | None => false,
        }
    }

    pub(crate) fn wake(&self, referee: &RefereeId) {
        self.of(referee, |polling| polling.wake.notify_waiters());
    }

    pub(crate) fn wake_all(&self) {
        self.referees().values().for_each(|polling| polling.wake.notify_waiters());
    }

    /// Waits until every referee that is there has heard that the league is over and has left.
    pub(crate) async fn all_left(&self, limit: Duration) {
        let all = async {
            loop {
                let left = self.left.notified();
                tokio::pin!(left);
                left.as_mut().enable();
                let ids: Vec<RefereeId> = self.referees().keys().cloned().collect();
                let leaving = self.leaving();
                if !ids.iter().any(|referee| !leaving.contains(referee) && self.is_there(referee, limit)) {
                    return;
                }
                left.await;
            }
        };
        if timeout(limit, all).await.is_err() {
            tracing::warn!("referees that pull have not heard that the league is over");
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Ends all polls when the returned value is dropped.
    pub(crate) fn open(&self) -> OpenPolls<'_> {
        self.closed.store(false, Ordering::Release);
        OpenPolls(self)
    }
}

/// The manager lets its open requests end before it exits, so a poll must not wait any more.
pub(crate) struct OpenPolls<'a>(&'a Polls);

impl Drop for OpenPolls<'_> {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::Release);
        self.0.wake_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_offers_that_are_named_are_forgotten() {
        let (polls, referee) = (Polls::default(), "REF01".parse::<RefereeId>().unwrap());
        let offered = |name: &str| Assignment { match_id: name.parse().unwrap(), referee: referee.clone(), attempt: 1 };
        polls.offer(offered("R1M1"));
        let offers = polls.offers();
        polls.offer(offered("R1M2"));
        polls.forget(&offers);
        assert_eq!(polls.ready(&referee), [offered("R1M2")]);
    }
}
