//! To whom a manager speaks at a time, so that it can listen in between.
//!
//! A round begins with news for everybody. Said all at once, it would stand in the way of whoever asks something meanwhile, for as long as all of it
//! takes. So listeners take turns, a few at a time; and since most answer at once, that costs nothing. Whoever does not
//! answer at once keeps nobody else waiting: after a moment its turn is over, and it is waited for beside all others.

use std::pin::Pin;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Listeners that are spoken to at a time.
const AT_A_TIME: usize = 24;
/// The moment in which most have heard everything.
const MOMENT: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct Turns {
    free: Semaphore,
}

impl Default for Turns {
    fn default() -> Self {
        Self { free: Semaphore::new(AT_A_TIME) }
    }
}

impl Turns {
    /// Does `work` when it is its turn. It stays where it is pinned, see [`Deadline::within`](league_wire::runtime_lag::Allowance::within).
    pub(crate) async fn take<F: Future>(&self, mut work: Pin<&mut F>) -> F::Output {
        // Nobody closes it; and if somebody did, there would be no turns to wait for.
        let turn = self.free.acquire().await;
        match timeout(MOMENT, work.as_mut()).await {
            Ok(done) => done,
            Err(_) => {
                drop(turn);
                work.await
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_few_speak_at_a_time() {
        let (turns, now, most) = (Turns::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        let speak = || {
            let speaking = async {
                most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(1)).await;
                now.fetch_sub(1, Ordering::Relaxed);
            };
            async { turns.take(pin!(speaking)).await }
        };
        join_all((0..100).map(|_| speak())).await;
        assert_eq!(most.into_inner(), AT_A_TIME);
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_answer_keeps_nobody_waiting() {
        let turns = Turns::default();
        let began = Instant::now();
        let silent = join_all((0..10 * AT_A_TIME).map(async |_| turns.take(pin!(pending::<()>())).await));
        tokio::select! {
            _ = silent => unreachable!("they are silent"),
            () = async {
                tokio::task::yield_now().await;
                turns.take(pin!(std::future::ready(()))).await;
            } => {}
        }
        assert!(began.elapsed() <= 11 * MOMENT, "{:?}", began.elapsed());
    }
}
