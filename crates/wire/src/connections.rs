//! Everybody who is connected, and who has to go when there is no room.
//!
//! A connection costs an attacker nothing, so places cannot go to whoever came first. Those go first who never asked anything, then those whose
//! question does not arrive, then those who are silent between two questions; each time whoever has been so for longest. Whoever has just come is
//! given a moment, since an honest peer needs one too; and nobody goes who is being answered or has not yet taken all of its answer. From one address there are only so many at a time, unless that is this machine, where a whole league may live.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::{AbortHandle, Id};
use tokio::time::Instant;

use crate::client_network::ClientNetwork;

/// The moment that a question may take to arrive when others wait for a place. On a busy machine an honest one may need it.
const MOMENT: Duration = Duration::from_millis(250);

/// What a connection is doing; the smaller, the sooner it has to go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Activity {
    /// It has not asked anything yet.
    Nothing = 0,
    /// The head of its question is there, and the rest is not.
    Asking = 1,
    Resting = 2,
    Waiting = 3,
}

impl Activity {
    fn numbered(number: u8) -> Self {
        match number {
            0 => Self::Nothing,
            1 => Self::Asking,
            2 => Self::Resting,
            _ => Self::Waiting,
        }
    }
}

/// What a connection is doing, and since when; shared by those who serve it and those who look after all.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionState(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    opened: Instant,
    doing: AtomicU8,
    /// In milliseconds after it was opened.
    since: AtomicU64,
    go: Notify,
}

impl ConnectionState {
    pub(crate) fn new() -> Self {
        let doing = AtomicU8::new(Activity::Nothing as u8);
        Self(Arc::new(Shared { opened: Instant::now(), doing, since: AtomicU64::new(0), go: Notify::new() }))
    }

    /// From now on it does this.
    pub(crate) fn is(&self, doing: Activity) {
        let after = u64::try_from(self.0.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.since.store(after, Ordering::Relaxed);
        self.0.doing.store(doing as u8, Ordering::Relaxed);
    }

    /// Waits until its place is wanted by another.
    pub(crate) async fn is_wanted(&self) {
        self.0.go.notified().await;
    }

    fn doing(&self) -> Activity {
        Activity::numbered(self.0.doing.load(Ordering::Relaxed))
    }

    fn since(&self) -> Instant {
        self.0.opened + Duration::from_millis(self.0.since.load(Ordering::Relaxed))
    }

    /// Whether it can be taken away.
    fn is_idle(&self) -> bool {
        match self.doing() {
            Activity::Nothing | Activity::Asking => self.since().elapsed() >= MOMENT,
            Activity::Resting => true,
            Activity::Waiting => false,
        }
    }
}

struct ConnectionEntry {
    whence: ClientNetwork,
    place: ConnectionState,
    task: AbortHandle,
    /// Whether it has been told to go, and only has not gone yet.
    leaving: bool,
}

/// Whether somebody new can be let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AdmissionResult {
    Free,
    After(Id),
    /// Everybody is being answered, or has only just come.
    None,
}

pub(crate) struct Connections {
    guests: HashMap<Id, ConnectionEntry>,
    /// How many of them come from each address other than this machine's.
    from: HashMap<ClientNetwork, usize>,
    leaving: usize,
    most: usize,
    most_from_one: usize,
}

impl Connections {
    /// Nobody yet, and at most so many at a time.
    pub(crate) fn new(most: usize, most_from_one: usize) -> Self {
        Self { guests: HashMap::new(), from: HashMap::new(), leaving: 0, most, most_from_one }
    }

    /// Whether there is room for anybody at all.
    pub(crate) fn room(&self) -> AdmissionResult {
        // Those who are leaving still have their connections: not too many of them either.
        if self.guests.len() >= 2 * self.most {
            return AdmissionResult::None;
        }
        if self.guests.len() - self.leaving < self.most { AdmissionResult::Free } else { self.least(|_| true) }
    }

    /// Whether there is room for one more from there.
    pub(crate) fn room_for(&self, whence: ClientNetwork) -> AdmissionResult {
        let there = self.from.get(&whence).copied().unwrap_or_default();
        if there >= self.most_from_one { self.least(|guest| guest.whence == whence) } else { self.room() }
    }

    /// Who of these has to go first.
    fn least(&self, among: impl Fn(&ConnectionEntry) -> bool) -> AdmissionResult {
        let idle = self.guests.iter().filter(|(_, guest)| !guest.leaving && among(guest) && guest.place.is_idle());
        let first = idle.min_by_key(|(_, guest)| (guest.place.doing(), guest.place.since()));
        first.map_or(AdmissionResult::None, |(id, _)| AdmissionResult::After(*id))
    }

    pub(crate) fn enter(&mut self, whence: ClientNetwork, place: ConnectionState, task: AbortHandle) {
        if !whence.is_here() {
            *self.from.entry(whence).or_default() += 1;
        }
        self.guests.insert(task.id(), ConnectionEntry { whence, place, task, leaving: false });
    }

    pub(crate) fn dismiss(&mut self, id: Id) {
        if let Some(guest) = self.guests.get_mut(&id).filter(|guest| !guest.leaving) {
            guest.leaving = true;
            match guest.place.doing() {
                Activity::Nothing | Activity::Asking => guest.task.abort(),
                // What was said last may still be on its way.
                Activity::Resting | Activity::Waiting => guest.place.0.go.notify_one(),
            }
            self.leaving += 1;
            forget(&mut self.from, guest.whence);
        }
    }

    pub(crate) fn left(&mut self, id: Id) {
        match self.guests.remove(&id) {
            Some(guest) if guest.leaving => self.leaving -= 1,
            Some(guest) => forget(&mut self.from, guest.whence),
            None => {}
        }
    }
}

fn forget(from: &mut HashMap<ClientNetwork, usize>, whence: ClientNetwork) {
    if let Some(there) = from.get_mut(&whence) {
        *there -= 1;
        if *there == 0 {
            from.remove(&whence);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinSet;

    use super::*;

    /// Somebody who does this since now.
    fn enter(crowd: &mut Connections, tasks: &mut JoinSet<()>, from: &str, doing: Activity) -> Id {
        let (place, task) = (ConnectionState::new(), tasks.spawn(std::future::pending()));
        place.is(doing);
        let id = task.id();
        crowd.enter(ClientNetwork::of(from.parse().unwrap()), place, task);
        id
    }

    const HERE: &str = "127.0.0.1:1";
    const FAR: &str = "203.0.113.9:1";

    #[tokio::test(start_paused = true)]
    async fn who_never_asked_goes_first_and_who_is_being_answered_stays() {
        let (mut crowd, mut tasks) = (Connections::new(5, 100), JoinSet::new());
        let mut come = async |doing| {
            tokio::time::advance(Duration::from_millis(10)).await;
            enter(&mut crowd, &mut tasks, HERE, doing)
        };
        let resting = come(Activity::Resting).await;
        let asking = come(Activity::Asking).await;
        let nothing = come(Activity::Nothing).await;
        let nothing_later = come(Activity::Nothing).await;
        come(Activity::Waiting).await;
        assert_eq!(crowd.room(), AdmissionResult::After(resting), "the others have only just come");
        tokio::time::advance(MOMENT).await;
        for first in [nothing, nothing_later, asking, resting] {
            assert_eq!(crowd.room(), AdmissionResult::After(first));
            crowd.dismiss(first);
            assert_eq!(crowd.room(), AdmissionResult::Free);
            enter(&mut crowd, &mut tasks, HERE, Activity::Waiting);
        }
        assert_eq!(crowd.room(), AdmissionResult::None, "everybody is being answered");
        crowd.left(nothing);
        assert_eq!(crowd.room(), AdmissionResult::None, "who had been told to go had made room already");
    }

    #[tokio::test]
    async fn an_address_has_only_so_many_unless_it_is_this_machine() {
        let (mut crowd, mut tasks) = (Connections::new(100, 2), JoinSet::new());
        let (here, far) = (ClientNetwork::of(HERE.parse().unwrap()), ClientNetwork::of(FAR.parse().unwrap()));
        for _ in 0..10 {
            assert_eq!(crowd.room_for(here), AdmissionResult::Free);
            enter(&mut crowd, &mut tasks, HERE, Activity::Waiting);
        }
        let first = enter(&mut crowd, &mut tasks, FAR, Activity::Resting);
        enter(&mut crowd, &mut tasks, FAR, Activity::Waiting);
        assert_eq!(crowd.room_for(far), AdmissionResult::After(first));
        crowd.dismiss(first);
        assert_eq!(crowd.room_for(far), AdmissionResult::Free);
        enter(&mut crowd, &mut tasks, FAR, Activity::Waiting);
        assert_eq!((crowd.room_for(far), crowd.room_for(here)), (AdmissionResult::None, AdmissionResult::Free));
        crowd.left(first);
        assert_eq!(crowd.from.get(&far), Some(&2));
    }
}
