//! Measures how late a runtime is, so that its own lag never counts against a peer.
//!
//! A task wakes up every few milliseconds and measures its delay. The delay shows that the processor is busy, a task blocks, or the
//! process was stopped. A peer's answer may wait in the kernel during that time, so a [`Deadline`] excludes it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout_at};

/// A shorter interval detects a passed deadline earlier.
const BEAT: Duration = Duration::from_millis(2);
/// Ignored lateness: timers have a resolution of one millisecond, and other tasks always run. Interval plus tolerance is the longest
/// undetected stall: with 10 ms in place of 6, a referee under load decided 8 to 13 ms late.
const TOLERANCE: Duration = Duration::from_millis(4);
/// The value of `due` while the monitor does not measure.
const RESTING: u64 = u64::MAX;

/// Measures the lag of one runtime while a client waits for a peer. Cheap to clone.
#[derive(Clone, Debug)]
pub struct LagMonitor {
    lag_state: Arc<LagState>,
}

#[derive(Debug)]
struct LagState {
    began: Instant,
    /// Microseconds lost up to the last beat.
    lost: AtomicU64,
    /// When the next beat is due, in microseconds since the start, or [`RESTING`].
    due: AtomicU64,
    /// Up to when other loss has been counted, in microseconds since the start.
    counted: AtomicU64,
    waiting: AtomicUsize,
    /// Notified when a client waits again, or when the last monitor is dropped.
    wake: Arc<Notify>,
}

impl LagMonitor {
    pub fn start() -> Self {
        let wake = Arc::<Notify>::default();
        let lag_state = Arc::new(LagState {
            began: Instant::now(),
            lost: AtomicU64::new(0),
            due: AtomicU64::new(RESTING),
            counted: AtomicU64::new(0),
            waiting: AtomicUsize::new(0),
            wake: Arc::clone(&wake),
        });
        let held = Arc::downgrade(&lag_state);
        tokio::spawn(async move {
            loop {
                wake.notified().await;
                let Some(mut due) = held.upgrade().map(|lag_state| lag_state.due()) else { return };
                while let Some(moment) = due {
                    sleep_until(moment).await;
                    let Some(lag_state) = held.upgrade() else { return };
                    due = lag_state.beat(moment);
                }
            }
        });
        Self { lag_state }
    }

    pub fn lost(&self) -> Duration {
        // `beat` stores these in the opposite order, so a read in between gives too much lag rather than too little.
        let due = self.lag_state.due();
        let before = Duration::from_micros(self.lag_state.lost.load(Ordering::Relaxed));
        before + due.map_or(Duration::ZERO, |due| late(Instant::now(), due))
    }

    /// Counts the time since `began` as lag. If several callers report the same time, it counts once.
    pub(crate) fn lose_since(&self, began: Instant) {
        let since = |moment: Instant| micros(moment.saturating_duration_since(self.lag_state.began));
        let now = since(Instant::now());
        let counted = self.lag_state.counted.fetch_max(now, Ordering::Relaxed);
        self.lag_state.lost.fetch_add(now.saturating_sub(counted.max(since(began))), Ordering::Relaxed);
    }
}

impl LagState {
    /// `None` while the monitor does not measure.
    fn due(&self) -> Option<Instant> {
        let due = self.due.load(Ordering::SeqCst);
        (due != RESTING).then(|| self.began + Duration::from_micros(due))
    }

    fn beat(&self, due: Instant) -> Option<Instant> {
        self.lost.fetch_add(micros(late(Instant::now(), due)), Ordering::Relaxed);
        if self.waiting.load(Ordering::SeqCst) == 0 {
            self.due.store(RESTING, Ordering::SeqCst);
            // A watch that began in between still saw the monitor measuring.
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

impl Drop for LagState {
    fn drop(&mut self) {
        self.wake.notify_one();
    }
}

/// The monitor measures as long as a watch exists.
#[derive(Debug)]
struct LagWatch(LagMonitor);

impl LagWatch {
    fn new(lag_monitor: LagMonitor) -> Self {
        lag_monitor.lag_state.waiting.fetch_add(1, Ordering::SeqCst);
        if lag_monitor.lag_state.due().is_none() {
            lag_monitor.lag_state.next();
            lag_monitor.lag_state.wake.notify_one();
        }
        Self(lag_monitor)
    }
}

impl Clone for LagWatch {
    fn clone(&self) -> Self {
        Self::new(self.0.clone())
    }
}

impl Drop for LagWatch {
    fn drop(&mut self) {
        self.0.lag_state.waiting.fetch_sub(1, Ordering::SeqCst);
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

/// A limit that excludes our own lag. It grants at most the limit once more, without the time in which nothing ran.
#[derive(Clone, Debug)]
pub struct Deadline {
    watch: Option<LagWatch>,
    limit: Duration,
    began: Instant,
    /// The monitor's loss when the deadline began.
    lost: Duration,
    waited: Duration,
    begun: bool,
}

impl Deadline {
    /// Begins now. Without a monitor it grants nothing.
    pub fn new(limit: Duration, lag_monitor: Option<LagMonitor>) -> Self {
        let watch = lag_monitor.map(LagWatch::new);
        let lost = lost_by(watch.as_ref());
        Self { watch, limit, began: Instant::now(), lost, waited: Duration::ZERO, begun: false }
    }

    /// The time for the next piece of work. The first gets the whole limit: its clock starts when it is sent, not while it is written.
    pub(crate) fn start(&mut self) -> Duration {
        if self.begun {
            return self.left();
        }
        self.begun = true;
        self.lost = lost_by(self.watch.as_ref());
        self.began = Instant::now();
        self.limit
    }

    pub fn left(&self) -> Duration {
        let lost = lost_by(self.watch.as_ref()).saturating_sub(self.lost);
        let used = self.began.elapsed().saturating_sub(lost);
        self.limit.saturating_sub(used)
    }

    /// May move later as lag is measured.
    pub fn end(&self) -> Instant {
        Instant::now() + self.left()
    }

    /// Runs `work` while there is time; returns its output and the time granted beyond the limit. `work` is pinned by the caller,
    /// because passing it by value would copy it for every call.
    pub async fn within<F: Future>(&mut self, mut work: Pin<&mut F>) -> (Option<F::Output>, Duration) {
        let first = self.end();
        let mut end = first;
        let lost = loop {
            let lost = lost_by(self.watch.as_ref());
            if let Ok(done) = timeout_at(end, work.as_mut()).await {
                let granted =
                    if self.watch.is_some() { Instant::now().saturating_duration_since(first) } else { Duration::ZERO };
                return (Some(done), granted);
            }
            // An answer may already be in the kernel. Yielding lets the connection read it.
            if self.watch.is_some() {
                tokio::task::yield_now().await;
                let look = std::future::poll_fn(|context| Poll::Ready(work.as_mut().poll(context)));
                if let Poll::Ready(done) = look.await {
                    return (Some(done), Instant::now().saturating_duration_since(first));
                }
            }
            // Other tasks may have run first, so the lag up to here counts too.
            let more = self.left().min(self.limit.saturating_sub(self.waited));
            if more.is_zero() {
                break lost_by(self.watch.as_ref()).saturating_sub(lost);
            }
            self.waited += more;
            end = Instant::now() + more;
        };
        // An answer would have counted until now, so the lag until now was granted too.
        let over = end.elapsed().min(lost);
        (None, end.saturating_duration_since(first) + over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_within_the_tolerance_is_no_lag() {
        let due = Instant::now();
        assert_eq!(late(due, due + BEAT), Duration::ZERO, "too early");
        assert_eq!(late(due + TOLERANCE, due), Duration::ZERO);
        assert_eq!(late(due + TOLERANCE + Duration::from_millis(1), due), Duration::from_millis(1));
    }

    fn stall() {
        std::thread::sleep(5 * (BEAT + TOLERANCE));
    }

    #[tokio::test]
    async fn the_monitor_measures_only_while_a_peer_is_waited_for() {
        let lag_monitor = LagMonitor::start();
        stall();
        assert_eq!((lag_monitor.lag_state.due(), lag_monitor.lost()), (None, Duration::ZERO));
        let waited = Deadline::new(Duration::from_secs(1), Some(lag_monitor.clone()));
        stall();
        assert!(lag_monitor.lost() > 2 * TOLERANCE, "felt before anything else has run: {:?}", lag_monitor.lost());
        let another = waited.clone();
        drop(waited);
        sleep_until(Instant::now() + 3 * BEAT).await;
        assert!(lag_monitor.lag_state.due().is_some(), "there is another one");
        drop(another);
        while lag_monitor.lag_state.due().is_some() {
            tokio::task::yield_now().await;
        }
        let lost = lag_monitor.lost();
        stall();
        assert_eq!(lag_monitor.lost(), lost);
        drop(Deadline::new(Duration::from_secs(1), Some(lag_monitor.clone())));
        assert!(lag_monitor.lag_state.due().is_some(), "it beats again");
    }

    #[test]
    fn the_first_piece_of_work_gets_the_whole_limit() {
        let limit = Duration::from_secs(10);
        let mut time = Deadline::new(limit, None);
        stall();
        assert!(time.left() < limit);
        assert_eq!(time.start(), limit, "the call was written meanwhile");
        stall();
        assert!(time.start() < limit, "a second piece gets what is left");
    }

    #[tokio::test]
    async fn the_measuring_task_ends_with_the_last_monitor() {
        let lag_monitor = LagMonitor::start();
        let (lag_state, waited) =
            (Arc::downgrade(&lag_monitor.lag_state), Deadline::new(Duration::from_secs(1), Some(lag_monitor.clone())));
        drop(lag_monitor);
        assert!(lag_state.upgrade().is_some(), "who is waited for holds it, too");
        drop(waited);
        let tasks = tokio::runtime::Handle::current().metrics();
        while tasks.num_alive_tasks() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(lag_state.upgrade().is_none());
    }
}
