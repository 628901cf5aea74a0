//! Waiting for an answer that may come on two ways: as the answer to the call, or as a post of the player's own.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use league_wire::exchange::Exchange;
use league_wire::pulse::Allowance;
use league_wire::speaker::{Judge, Verdict};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::answer::{Asked, Understood};
use crate::held::{Held, Hold};
use crate::posted::PostedAnswer;

/// The longest wait for a post after a bare acknowledgement, before the question is put in another form.
const LONGEST_HOLD: Duration = Duration::from_secs(1);

/// How long a call goes on whose answer has been posted: its player is about to say so.
const GRACE: Duration = Duration::from_millis(250);

/// How long a doubtful answer waits, once its call has ended, for one that goes before it or contradicts it.
const SETTLING: Duration = Duration::from_millis(250);

/// What was posted while a call is open.
#[derive(Debug, Default)]
pub(crate) struct Posted {
    /// Whether an answer was posted that counts.
    is: AtomicBool,
    now: Notify,
    /// Answers without a right token.
    held: Mutex<Held>,
    /// In microseconds.
    granted: AtomicU64,
}

impl Posted {
    /// An answer that counts was posted.
    pub(crate) fn set(&self) {
        self.is.store(true, Ordering::Release);
        self.now.notify_waiters();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.is.load(Ordering::Acquire)
    }

    /// The answers without a right token.
    pub(crate) fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds an answer without a right token.
    pub(crate) fn hold(&self, posted: PostedAnswer, echoes: bool) -> Hold {
        let hold = self.held().hold(posted, echoes);
        self.now.notify_waiters();
        hold
    }

    /// Waits until an answer was posted that counts, or one without a right token that counts where the call has none.
    async fn wait(&self) {
        loop {
            let now = self.now.notified();
            tokio::pin!(now);
            // Whoever posts between the look and the wait must not be missed.
            now.as_mut().enable();
            let (has_echoing, has_any) = {
                let held = self.held();
                (held.has_echoing(), held.has_any())
            };
            if self.is_set() || has_echoing {
                return;
            }
            if has_any {
                tokio::select! {
                    () = now => {}
                    () = sleep(SETTLING) => return,
                }
            } else {
                now.await;
            }
        }
    }

    /// Waits until the call need not go on.
    pub(crate) async fn over(&self) {
        loop {
            let now = self.now.notified();
            tokio::pin!(now);
            now.as_mut().enable();
            if self.is_set() {
                break;
            }
            now.await;
        }
        sleep(GRACE).await;
    }

    /// Waits for a post as long as there is time.
    pub(crate) async fn within(&self, mut time: Allowance) {
        let (_, granted) = time.within(pin!(self.wait())).await;
        self.granted.fetch_max(u64::try_from(granted.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// How much longer than allowed it was waited for, because the referee itself was late.
    pub(crate) fn granted(&self) -> Duration {
        Duration::from_micros(self.granted.load(Ordering::Relaxed))
    }
}

/// Judges the answers to one question.
pub(crate) struct Patience<'a> {
    pub(crate) asked: Asked<'a>,
    pub(crate) posted: &'a Posted,
    /// Whether the player is known to post its answers.
    pub(crate) posts: bool,
    pub(crate) limit: Duration,
    /// The time for the answer, on whichever way it comes.
    pub(crate) time: Allowance,
    /// What the last answer was read as, so that it is read once.
    pub(crate) read: Mutex<Option<Understood>>,
}

impl Patience<'_> {
    /// What the last answer was read as.
    pub(crate) fn last(&self) -> Option<Understood> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Judge for Patience<'_> {
    async fn judge(&self, exchange: &Exchange) -> Verdict {
        if self.posted.is_set() {
            return Verdict::Understood;
        }
        let read = self.asked.understand(exchange);
        let (is_said, is_heard) = (matches!(read, Understood::Said { .. }), matches!(read, Understood::Heard));
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some(read);
        if is_heard {
            let hold = (self.limit / 4).min(LONGEST_HOLD).min(self.time.left());
            let time = if self.posts { self.time.clone() } else { Allowance::new(hold, None) };
            self.posted.within(time).await;
        }
        // A player that posts has understood, also where what it posted does not count.
        let has_posted = self.posted.is_set() || (is_heard && self.posted.held().shows_understanding());
        if is_said || has_posted { Verdict::Understood } else { Verdict::Misunderstood }
    }
}
