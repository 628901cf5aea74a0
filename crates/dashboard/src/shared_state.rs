//! The state that all viewers share: the snapshot, the latest events, and the rendered parts of the first page.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use bytes::Bytes;
use league_core::season::event::Event;
use tokio::sync::{Notify, watch};

use crate::archive::Archive;
use crate::events;
use crate::league_snapshot::LeagueSnapshot;
use crate::live::Parts;
use crate::phases::Phases;
use crate::waiting_room::WaitingRoom;

/// Events kept in memory; older ones come from the log.
const RING: usize = 4096;

/// Viewers are notified in groups, because waking all at once would delay other work.
pub(crate) const SLICES: usize = 8;

#[derive(Debug)]
pub(crate) struct LatestEvent {
    pub(crate) seq: u64,
    event: Event,
    message: OnceLock<Bytes>,
}

impl LatestEvent {
    /// Serialized once, shared by all viewers.
    pub(crate) fn message(&self) -> Bytes {
        self.message.get_or_init(|| events::message(self.seq, &self.event)).clone()
    }
}

#[derive(Debug)]
pub(crate) struct SharedState {
    snapshot: RwLock<LeagueSnapshot>,
    ring: Mutex<VecDeque<Arc<LatestEvent>>>,
    pub(crate) head: watch::Sender<u64>,
    /// One channel for each group of viewers.
    pub(crate) parts: [watch::Sender<Arc<Parts>>; SLICES],
    next_slice: AtomicUsize,
    pub(crate) closing: watch::Sender<bool>,
    /// Notified when the parts must be rendered again.
    pub(crate) wanted: Notify,
    phases: RwLock<Phases>,
    watching: AtomicUsize,
    streams: AtomicUsize,
    most: usize,
    pub(crate) archive: Archive,
    /// `None` when the league is only displayed.
    pub(crate) room: Option<WaitingRoom>,
}

impl SharedState {
    pub(crate) fn new(snapshot: LeagueSnapshot, archive: Archive, most: usize, room: Option<WaitingRoom>) -> Self {
        Self {
            head: watch::Sender::new(snapshot.seq()),
            snapshot: RwLock::new(snapshot),
            ring: Mutex::default(),
            parts: std::array::from_fn(|_| watch::Sender::new(Arc::default())),
            next_slice: AtomicUsize::new(0),
            closing: watch::Sender::new(false),
            wanted: Notify::new(),
            phases: RwLock::default(),
            watching: AtomicUsize::new(0),
            streams: AtomicUsize::new(0),
            most,
            archive,
            room,
        }
    }

    /// Callers hold the lock only while they render.
    pub(crate) fn snapshot(&self) -> RwLockReadGuard<'_, LeagueSnapshot> {
        // An event that cannot be applied changes nothing, so a panic leaves no partial event.
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn phases(&self) -> RwLockReadGuard<'_, Phases> {
        self.phases.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies viewers only of a change.
    pub(crate) fn set_phases(&self, phases: Phases) {
        if *self.phases() != phases {
            *self.phases.write().unwrap_or_else(PoisonError::into_inner) = phases;
            self.wanted.notify_one();
        }
    }

    /// Skips events that do not follow the last one.
    pub(crate) fn apply(&self, events: Vec<(u64, Event)>) {
        let mut applied = Vec::with_capacity(events.len());
        let mut snapshot = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        for (seq, event) in events {
            if seq != snapshot.seq() + 1 {
                continue;
            }
            if let Err(error) = snapshot.apply(&event) {
                tracing::error!(seq, %error, "the pages cannot follow the league");
                break;
            }
            applied.push(Arc::new(LatestEvent { seq, event, message: OnceLock::new() }));
        }
        let seq = snapshot.seq();
        drop(snapshot);
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        ring.extend(applied);
        let over = ring.len().saturating_sub(RING);
        ring.drain(..over);
        drop(ring);
        self.head.send_replace(seq);
    }

    /// `None` when the next event is no longer in memory.
    pub(crate) fn latest(&self, after: u64, limit: usize) -> Option<Vec<Arc<LatestEvent>>> {
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let first = ring.front()?.seq;
        let skipped = usize::try_from((after + 1).checked_sub(first)?).ok()?;
        Some(ring.iter().skip(skipped).take(limit).cloned().collect())
    }

    /// `None` when there are too many viewers.
    pub(crate) fn viewer_slot(self: &Arc<Self>, watches_parts: bool) -> Option<ViewerSlot> {
        if self.streams.fetch_add(1, Ordering::Relaxed) >= self.most {
            self.streams.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        if watches_parts {
            self.watching.fetch_add(1, Ordering::Relaxed);
            self.wanted.notify_one();
        }
        let slice = self.next_slice.fetch_add(1, Ordering::Relaxed) % SLICES;
        Some(ViewerSlot { state: Arc::clone(self), watches_parts, slice })
    }

    pub(crate) fn streams(&self) -> usize {
        self.streams.load(Ordering::Relaxed)
    }

    pub(crate) fn watching(&self) -> usize {
        self.watching.load(Ordering::Relaxed)
    }
}

/// Frees the slot when it is dropped.
#[derive(Debug)]
pub(crate) struct ViewerSlot {
    pub(crate) state: Arc<SharedState>,
    watches_parts: bool,
    slice: usize,
}

impl ViewerSlot {
    pub(crate) fn parts(&self) -> &watch::Sender<Arc<Parts>> {
        &self.state.parts[self.slice]
    }
}

impl Drop for ViewerSlot {
    fn drop(&mut self) {
        self.state.streams.fetch_sub(1, Ordering::Relaxed);
        if self.watches_parts {
            self.state.watching.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
