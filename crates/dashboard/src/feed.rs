//! Hands durable events to the pages without waiting; a task applies them.
//!
//! The dashboard never blocks the league. Events that do not fit into the queue are read from the log afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use league_core::season::event::Event;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

use crate::live;
use crate::shared_state::SharedState;

const QUEUE: usize = 16 * 1024;
const BATCH: usize = 1024;
const TICK: Duration = Duration::from_millis(100);
/// Used with more than [`CROWD`] viewers.
const CROWDED_TICK: Duration = Duration::from_millis(235);
/// The pause between two groups of viewers, so that they do not all wake up at once.
const SLICE: Duration = Duration::from_millis(4);
const CROWD: usize = 100;

#[derive(Debug)]
pub struct Feed {
    sent: Arc<AtomicU64>,
    inbox: mpsc::Sender<(u64, Event)>,
}

impl Feed {
    pub fn send(&self, event: &Event) {
        let seq = self.sent.fetch_add(1, Ordering::Relaxed) + 1;
        // When the queue is full, the task reads the event from the log later.
        drop(self.inbox.try_send((seq, event.clone())));
    }
}

pub(crate) fn open(state: Arc<SharedState>) -> (Feed, impl Future<Output = ()> + Send) {
    let (inbox, events) = mpsc::channel(QUEUE);
    let sent = Arc::new(AtomicU64::new(state.snapshot().seq()));
    (Feed { sent: Arc::clone(&sent), inbox }, fold(state, sent, events))
}

async fn fold(state: Arc<SharedState>, sent: Arc<AtomicU64>, mut inbox: mpsc::Receiver<(u64, Event)>) {
    let mut batch = Vec::with_capacity(BATCH);
    let mut made = Instant::now();
    let mut due: Option<Instant> = None;
    let mut open = true;
    loop {
        let alarm = due.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600));
        tokio::select! {
            count = inbox.recv_many(&mut batch, BATCH), if open => {
                open = count > 0;
                let last = batch.last().map_or(0, |(seq, _): &(u64, Event)| *seq);
                state.apply(std::mem::take(&mut batch));
                // With an empty queue, a missing event did not fit into it.
                let until = if inbox.is_empty() { sent.load(Ordering::Relaxed) } else { last };
                catch_up(&state, until).await;
                if state.watching() > 0 {
                    let tick = if state.watching() > CROWD { CROWDED_TICK } else { TICK };
                    due = due.or(Some(made + tick));
                }
            }
            () = state.wanted.notified() => due = Some(Instant::now()),
            () = sleep_until(alarm), if due.is_some() => {
                due = None;
                made = Instant::now();
                publish(&state).await;
            }
        }
    }
}

async fn publish(state: &SharedState) {
    let before = state.parts[0].borrow().clone();
    let parts = Arc::new(live::make(&state.snapshot(), &state.phases(), state.room.as_ref(), &before));
    for slice in &state.parts {
        slice.send_replace(Arc::clone(&parts));
        if state.watching() > CROWD {
            sleep(SLICE).await;
        }
    }
}

async fn catch_up(state: &SharedState, until: u64) {
    loop {
        let seq = state.snapshot().seq();
        if seq >= until {
            return;
        }
        match state.archive.events(seq, BATCH).await {
            Ok(events) if !events.is_empty() => {
                state.apply(events.into_iter().map(|(head, event)| (head.seq, event)).collect());
            }
            Ok(_) => return,
            Err(error) => {
                tracing::warn!(%error, "the pages cannot catch up with the league");
                return;
            }
        }
        if state.snapshot().seq() == seq {
            return;
        }
    }
}
