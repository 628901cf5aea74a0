//! Whether a runtime is starved, and what that means for those who are waited for.
//!
//! A task that does nothing but wake up every few milliseconds sees how late everything else wakes up: the processor is busy
//! elsewhere, something blocks, the process was stopped. Time that was lost so is ours and nobody else's: it does not count against a
//! peer, whose answer may have been lying in the kernel all the while. An [`Allowance`] is a limit with that time taken out.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};

/// How often it beats.
const BEAT: Duration = Duration::from_millis(5);
/// How late a beat may come and still be on time: timers are a millisecond wide, and somebody is always at work. Only what is beyond counts as
/// lost, or a runtime in which every beat is a little late would seem to lose half of its time.
const TOLERANCE: Duration = Duration::from_millis(5);

/// The pulse of one runtime; cheap to clone. It beats as long as somebody holds it.
#[derive(Clone, Debug)]
pub struct Pulse {
    felt: Arc<Felt>,
}

#[derive(Debug)]
struct Felt {
    began: Instant,
    /// What was lost up to the last beat, in microseconds.
    lost: AtomicU64,
    /// When the next beat is due, in microseconds since it began.
    due: AtomicU64,
    /// Up to when loss of another kind has been counted, likewise.
    counted: AtomicU64,
}

impl Pulse {
    /// The pulse of the runtime that this is called in.
    pub fn start() -> Self {
        let (lost, due, counted) = (AtomicU64::new(0), AtomicU64::new(micros(BEAT)), AtomicU64::new(0));
        let felt = Arc::new(Felt { began: Instant::now(), lost, due, counted });
        let held = Arc::downgrade(&felt);
        let mut due = felt.began + BEAT;
        tokio::spawn(async move {
            loop {
                sleep_until(due).await;
                let Some(felt) = held.upgrade() else { return };
                due = felt.beat(due);
            }
        });
        Self { felt }
    }

    /// All the time that its runtime has lost so far.
    pub fn lost(&self) -> Duration {
        // In this order, and the other way round in `beat`: what is read in between is too much rather than too little.
        let due = self.felt.began + Duration::from_micros(self.felt.due.load(Ordering::Acquire));
        let before = Duration::from_micros(self.felt.lost.load(Ordering::Relaxed));
        before + late(Instant::now(), due)
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

impl Felt {
    /// Notes a beat that was `due`, and says when the next one is.
    fn beat(&self, due: Instant) -> Instant {
        let now = Instant::now();
        self.lost.fetch_add(micros(late(now, due)), Ordering::Relaxed);
        let next = now + BEAT;
        self.due.store(micros(next.duration_since(self.began)), Ordering::Release);
        next
    }
}

fn late(now: Instant, due: Instant) -> Duration {
    now.saturating_duration_since(due).saturating_sub(TOLERANCE)
}

fn lost_by(pulse: Option<&Pulse>) -> Duration {
    pulse.map_or(Duration::ZERO, Pulse::lost)
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

/// The time that a peer has: a limit, in which what our own runtime lost does not count.
///
/// What is granted is bounded: beyond the limit a peer is waited for as long again at most, not counting the time in which nothing ran.
#[derive(Clone, Debug)]
pub struct Allowance {
    pulse: Option<Pulse>,
    limit: Duration,
    began: Instant,
    /// What had been lost when it began.
    lost: Duration,
    /// How long it was waited beyond the limit.
    waited: Duration,
    /// Whether anything of it was used.
    begun: bool,
}

impl Allowance {
    /// From now on; without a pulse nothing is ever granted.
    pub fn new(limit: Duration, pulse: Option<Pulse>) -> Self {
        let lost = lost_by(pulse.as_ref());
        Self { pulse, limit, began: Instant::now(), lost, waited: Duration::ZERO, begun: false }
    }

    /// What the next piece of work may take: all of it for the first.
    pub(crate) fn allowed(&self) -> Duration {
        if self.begun { self.left() } else { self.limit }
    }

    /// What is left of it.
    pub fn left(&self) -> Duration {
        let lost = lost_by(self.pulse.as_ref()).saturating_sub(self.lost);
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
            let lost = lost_by(self.pulse.as_ref());
            if let Ok(done) = timeout_at(end, work.as_mut()).await {
                let granted =
                    if self.pulse.is_some() { Instant::now().saturating_duration_since(first) } else { Duration::ZERO };
                return (Some(done), granted);
            }
            // What lies in the kernel at this moment was there in time, as far as anybody can know. To yield lets the connection read it.
            if self.pulse.is_some() {
                tokio::task::yield_now().await;
                let look = std::future::poll_fn(|context| Poll::Ready(work.as_mut().poll(context)));
                if let Poll::Ready(done) = look.await {
                    return (Some(done), Instant::now().saturating_duration_since(first));
                }
            }
            // Everybody else at work may have come first: what was lost up to here counts, or the decision would fall late.
            let more = self.left().min(self.limit.saturating_sub(self.waited));
            if more.is_zero() {
                break lost_by(self.pulse.as_ref()).saturating_sub(lost);
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
}
