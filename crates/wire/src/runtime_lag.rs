//! Whether a runtime is starved, and what that means for those who are waited for.
//!
//! A task that does nothing but wake up every few milliseconds sees how late everything else wakes up: the processor is busy
//! elsewhere, something blocks, the process was stopped. Time that was lost so is ours and nobody else's: it does not count against a
//! peer, whose answer may have been lying in the kernel all the while. An [`Deadline`] is a limit with that time taken out.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout_at};

/// How often it beats. What happens between two beats is not felt: the less there is between them, the sooner is decided that a deadline has passed.
const BEAT: Duration = Duration::from_millis(2);
/// How late a beat may come and still be on time: timers are a millisecond wide, and somebody is always at work. Only what is beyond counts as
/// lost, or a runtime in which every beat is a little late would seem to lose half of its time. Both together are the longest stall that
/// nobody feels: with ten milliseconds in place of six, a referee under load decided eight to thirteen late.
const TOLERANCE: Duration = Duration::from_millis(4);
/// In place of the next beat, while there is none.
const RESTING: u64 = u64::MAX;

/// The pulse of one runtime; cheap to clone. It beats while somebody is waited for, and rests otherwise: who has nothing to do wakes nobody up.
#[derive(Clone, Debug)]
pub struct LagMonitor {
    felt: Arc<LagState>,
}

#[derive(Debug)]
struct LagState {
    began: Instant,
    /// What was lost up to the last beat, in microseconds.
    lost: AtomicU64,
    /// When the next beat is due, in microseconds since it began, or [`RESTING`].
    due: AtomicU64,
    /// Up to when loss of another kind has been counted, likewise.
    counted: AtomicU64,
    waiting: AtomicUsize,
    /// Somebody is waited for again, or nobody ever will be.
    wake: Arc<Notify>,
}

impl LagMonitor {
    /// The pulse of the runtime that this is called in.
    pub fn start() -> Self {
        let wake = Arc::<Notify>::default();
        let felt = Arc::new(LagState {
            began: Instant::now(),
            lost: AtomicU64::new(0),
            due: AtomicU64::new(RESTING),
            counted: AtomicU64::new(0),
            waiting: AtomicUsize::new(0),
            wake: Arc::clone(&wake),
        });
        let held = Arc::downgrade(&felt);
        tokio::spawn(async move {
            loop {
                wake.notified().await;
                let Some(mut due) = held.upgrade().map(|felt| felt.due()) else { return };
                while let Some(moment) = due {
                    sleep_until(moment).await;
                    let Some(felt) = held.upgrade() else { return };
                    due = felt.beat(moment);
                }
            }
        });
        Self { felt }
    }

    /// All the time that its runtime has lost so far.
    pub fn lost(&self) -> Duration {
        // In this order, and the other way round in `beat`: what is read in between is too much rather than too little.
        let due = self.felt.due();
        let before = Duration::from_micros(self.felt.lost.load(Ordering::Relaxed));
        before + due.map_or(Duration::ZERO, |due| late(Instant::now(), due))
    }

    /// Notes that the time from `began` until now was lost in another way, and all the same was nobody's but ours. Many may say
    /// so of the same time; it was lost once.
    pub(crate) fn lose_since(&self, began: Instant) {
        let since = |moment: Instant| micros(moment.saturating_duration_since(self.felt.began));
        let now = since(Instant::now());
        let counted = self.felt.counted.fetch_max(now, Ordering::Relaxed);
        self.felt.lost.fetch_add(now.saturating_sub(counted.max(since(began))), Ordering::Relaxed);
    }
}

impl LagState {
    /// When the next beat is due; nothing while it rests.
    fn due(&self) -> Option<Instant> {
        let due = self.due.load(Ordering::SeqCst);
        (due != RESTING).then(|| self.began + Duration::from_micros(due))
    }

    /// Notes a beat that was `due`, and says when the next one is.
    fn beat(&self, due: Instant) -> Option<Instant> {
        self.lost.fetch_add(micros(late(Instant::now(), due)), Ordering::Relaxed);
        if self.waiting.load(Ordering::SeqCst) == 0 {
            self.due.store(RESTING, Ordering::SeqCst);
            // Who came in between saw it beating still.
            if self.waiting.load(Ordering::SeqCst) == 0 {
                return None;
            }
        }
        Some(self.next())
    }

    fn next(&self) -> Instant {
        let next = Instant::now() + BEAT;
        self.due.store(micros(next.duration_since(self.began)), Ordering::SeqCst);
        next
    }
}

/// Whoever held it last lets the task go that beats.
impl Drop for LagState {
    fn drop(&mut self) {
        self.wake.notify_one();
    }
}

/// Somebody is waited for: as long as this is there, the pulse beats.
#[derive(Debug)]
struct LagWatch(LagMonitor);

impl LagWatch {
    fn new(pulse: LagMonitor) -> Self {
        pulse.felt.waiting.fetch_add(1, Ordering::SeqCst);
        if pulse.felt.due().is_none() {
            pulse.felt.next();
            pulse.felt.wake.notify_one();
        }
        Self(pulse)
    }
}

impl Clone for LagWatch {
    fn clone(&self) -> Self {
        Self::new(self.0.clone())
    }
}

impl Drop for LagWatch {
    fn drop(&mut self) {
        self.0.felt.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

fn late(now: Instant, due: Instant) -> Duration {
    now.saturating_duration_since(due).saturating_sub(TOLERANCE)
}

fn lost_by(watch: Option<&LagWatch>) -> Duration {
    watch.map_or(Duration::ZERO, |watch| watch.0.lost())
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

/// The time that a peer has: a limit, in which what our own runtime lost does not count.
///
/// What is granted is bounded: beyond the limit a peer is waited for as long again at most, not counting the time in which nothing ran.
#[derive(Clone, Debug)]
pub struct Deadline {
    watch: Option<LagWatch>,
    limit: Duration,
    began: Instant,
    /// What had been lost when it began.
    lost: Duration,
    /// How long it was waited beyond the limit.
    waited: Duration,
    /// Whether anything of it was used.
    begun: bool,
}

impl Deadline {
    /// From now on; without a pulse nothing is ever granted.
    pub fn new(limit: Duration, pulse: Option<LagMonitor>) -> Self {
        let watch = pulse.map(LagWatch::new);
        let lost = lost_by(watch.as_ref());
        Self { watch, limit, began: Instant::now(), lost, waited: Duration::ZERO, begun: false }
    }

    /// What the next piece of work may take: all of it for the first.
    pub(crate) fn allowed(&self) -> Duration {
        if self.begun { self.left() } else { self.limit }
    }

    pub fn left(&self) -> Duration {
        let lost = lost_by(self.watch.as_ref()).saturating_sub(self.lost);
        let used = self.began.elapsed().saturating_sub(lost);
        self.limit.saturating_sub(used)
    }

    /// When it is over, as far as can be known now.
    pub fn end(&self) -> Instant {
        Instant::now() + self.left()
    }

    /// Does `work` as long as there is time; nothing when there was not enough. Says also what was granted for it.
    ///
    /// It stays where it is pinned: taken by value it would be held twice, and copied for every call.
    pub async fn within<F: Future>(&mut self, mut work: Pin<&mut F>) -> (Option<F::Output>, Duration) {
        let first = self.end();
        self.begun = true;
        let mut end = first;
        let lost = loop {
            let lost = lost_by(self.watch.as_ref());
            if let Ok(done) = timeout_at(end, work.as_mut()).await {
                let granted =
                    if self.watch.is_some() { Instant::now().saturating_duration_since(first) } else { Duration::ZERO };
                return (Some(done), granted);
            }
            // What lies in the kernel at this moment was there in time, as far as anybody can know. To yield lets the connection read it.
            if self.watch.is_some() {
                tokio::task::yield_now().await;
                let look = std::future::poll_fn(|context| Poll::Ready(work.as_mut().poll(context)));
                if let Poll::Ready(done) = look.await {
                    return (Some(done), Instant::now().saturating_duration_since(first));
                }
            }
            // Everybody else at work may have come first: what was lost up to here counts, or the decision would fall late.
            let more = self.left().min(self.limit.saturating_sub(self.waited));
            if more.is_zero() {
                break lost_by(self.watch.as_ref()).saturating_sub(lost);
            }
            self.waited += more;
            end = Instant::now() + more;
        };
        // Until this moment an answer would have counted. What of that was our own lateness was granted, too.
        let over = end.elapsed().min(lost);
        (None, end.saturating_duration_since(first) + over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_little_late_loses_nothing_however_often_and_what_is_later_loses_the_rest() {
        let due = Instant::now();
        assert_eq!(late(due, due + BEAT), Duration::ZERO, "too early");
        assert_eq!(late(due + TOLERANCE, due), Duration::ZERO);
        assert_eq!(late(due + TOLERANCE + Duration::from_millis(1), due), Duration::from_millis(1));
    }

    /// Lets time pass for a runtime in which nothing runs meanwhile.
    fn stall() {
        std::thread::sleep(5 * (BEAT + TOLERANCE));
    }

    #[tokio::test]
    async fn it_beats_while_somebody_is_waited_for_and_what_passes_while_it_rests_is_not_lost() {
        let pulse = LagMonitor::start();
        stall();
        assert_eq!((pulse.felt.due(), pulse.lost()), (None, Duration::ZERO));
        let waited = Deadline::new(Duration::from_secs(1), Some(pulse.clone()));
        stall();
        assert!(pulse.lost() > 2 * TOLERANCE, "felt before anything else has run: {:?}", pulse.lost());
        let another = waited.clone();
        drop(waited);
        sleep_until(Instant::now() + 3 * BEAT).await;
        assert!(pulse.felt.due().is_some(), "there is another one");
        drop(another);
        while pulse.felt.due().is_some() {
            tokio::task::yield_now().await;
        }
        let lost = pulse.lost();
        stall();
        assert_eq!(pulse.lost(), lost);
        drop(Deadline::new(Duration::from_secs(1), Some(pulse.clone())));
        assert!(pulse.felt.due().is_some(), "it beats again");
    }

    #[tokio::test]
    async fn it_ends_with_whoever_holds_it() {
        let pulse = LagMonitor::start();
        let (felt, waited) = (Arc::downgrade(&pulse.felt), Deadline::new(Duration::from_secs(1), Some(pulse.clone())));
        drop(pulse);
        assert!(felt.upgrade().is_some(), "who is waited for holds it, too");
        drop(waited);
        let tasks = tokio::runtime::Handle::current().metrics();
        while tasks.num_alive_tasks() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(felt.upgrade().is_none());
    }
}
