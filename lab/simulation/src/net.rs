//! The network: connections between processes, and everything that is under way.
//!
//! A message arrives after a random delay, in order within one connection. Processes run one after the other through
//! the same span of time, [`TICK`], so nothing may arrive within the span in which it was sent. Therefore the shortest
//! delay is that span.

use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;
use std::time::Duration;

use crate::fault_log::{FaultLog, Victim, Weight};
use crate::faults::{ConnectionFault, Direction, FaultRates, Partition};
use crate::process_id::ProcessId;
use crate::rng::Rng;
use crate::scenario::Scenario;
use crate::sim_time::SimTime;
use crate::trace::{Trace, fingerprint};

/// The span through which processes run at a time, and the shortest delay.
pub const TICK: Duration = Duration::from_millis(10);
/// The most that a normal delay adds, in milliseconds.
const JITTER: u64 = 30;
/// How long the connection of a duplicated message stays open.
const PHANTOM: Duration = Duration::from_secs(5);

pub type ConnectionId = u64;

#[derive(Debug, Default)]
pub(crate) struct End {
    pub(crate) inbox: VecDeque<u8>,
    pub(crate) finished: bool,
    pub(crate) reset: bool,
    gone: bool,
    sent: u64,
    /// When the last of the sent bytes arrives.
    last: SimTime,
    /// Everything that is sent from here is lost.
    mute: bool,
    ended: bool,
    pub(crate) reader: Option<Waker>,
}

#[derive(Debug)]
struct Connection {
    from: ProcessId,
    to: ProcessId,
    fate: ConnectionFault,
    rng: Rng,
    near: End,
    far: End,
    /// Accepted or refused; `None` before the answer.
    answered: Option<bool>,
    /// Made by the network itself: no process is at its near end.
    phantom: bool,
}

impl Connection {
    fn end(&mut self, place: Direction) -> &mut End {
        match place {
            Direction::There => &mut self.near,
            Direction::Back => &mut self.far,
        }
    }

    fn ends(&self, way: Direction) -> (ProcessId, ProcessId) {
        match way {
            Direction::There => (self.from, self.to),
            Direction::Back => (self.to, self.from),
        }
    }
}

#[derive(Debug)]
enum Delivery {
    Knock,
    Answer(bool),
    Bytes(Direction, Vec<u8>),
    Finish(Direction),
    /// Goes to the receiver of this direction.
    Reset(Direction),
    /// A duplicate on a separate connection.
    Again(ProcessId, ProcessId, Vec<u8>),
}

/// The listener of a process.
#[derive(Debug, Default)]
pub(crate) struct Door {
    pub(crate) open: bool,
    /// The machine is gone: it does not even refuse.
    dark: bool,
    pub(crate) knocks: VecDeque<ConnectionId>,
    pub(crate) keeper: Option<Waker>,
}

/// A message that the checker reads.
#[derive(Clone, Debug)]
pub struct ObservedMessage {
    pub at: SimTime,
    pub connection: ConnectionId,
    pub from: ProcessId,
    pub to: ProcessId,
    pub question: bool,
    /// False if it was only sent.
    pub arrived: bool,
    pub bytes: Vec<u8>,
}

#[derive(Debug)]
pub struct Net {
    seed: u64,
    faults: FaultRates,
    partitions: Vec<Partition>,
    quiet: SimTime,
    patience: Duration,
    now: SimTime,
    connections: BTreeMap<ConnectionId, Connection>,
    last: ConnectionId,
    made: BTreeMap<(ProcessId, ProcessId), u64>,
    on_its_way: BTreeMap<(SimTime, u64), (ConnectionId, Delivery)>,
    posted: u64,
    pub(crate) doors: Vec<Door>,
    /// Woken after the lock on the network is released.
    wakers: Vec<Waker>,
    /// The messages to and from the manager.
    pub overheard: Vec<ObservedMessage>,
    pub fault_log: FaultLog,
    pub trace: Trace,
}

impl Net {
    pub fn new(scenario: &Scenario, trace: Trace) -> Self {
        let mut fault_log = FaultLog::default();
        for partition in &scenario.partitions {
            // Delayed messages arrive within a normal delay after the end.
            let until = partition.ends + Duration::from_secs(1);
            fault_log.note(Victim::Link(partition.from, partition.to), partition.begins, until, Weight::Everything);
        }
        Self {
            seed: scenario.seed,
            faults: scenario.faults,
            partitions: scenario.partitions.clone(),
            quiet: scenario.quiet,
            patience: scenario.patience,
            now: SimTime::BEGIN,
            connections: BTreeMap::new(),
            last: 0,
            made: BTreeMap::new(),
            on_its_way: BTreeMap::new(),
            posted: 0,
            doors: scenario.places().map(|_| Door::default()).collect(),
            wakers: Vec::new(),
            overheard: Vec::new(),
            fault_log,
            trace,
        }
    }

    pub(crate) fn connect(&mut self, from: ProcessId, to: ProcessId, at: SimTime) -> ConnectionId {
        let number = self.made.entry((from, to)).or_default();
        *number += 1;
        let mut rng = Rng::new(self.seed, &[2, u64::from(from.0), u64::from(to.0), *number]);
        let fate = if at < self.quiet { self.faults.fate(&mut rng) } else { ConnectionFault::Fair };
        let id = self.add(from, to, fate, rng);
        self.trace.note(at, format_args!("{from} → {to} connects ({id}, {fate:?})"));
        match fate {
            ConnectionFault::Unheard => self.spoil(from, to, at),
            ConnectionFault::Refused => {
                self.spoil(from, to, at);
                self.post(id, Direction::Back, at, Delivery::Answer(false));
            }
            ConnectionFault::Fair
            | ConnectionFault::Cut(..)
            | ConnectionFault::Mute(..)
            | ConnectionFault::Slow(_)
            | ConnectionFault::Doubled(_) => {
                self.post(id, Direction::There, at, Delivery::Knock);
            }
        }
        id
    }

    /// A call between these two fails. A peer of the manager may wait for it until its own limit.
    fn spoil(&mut self, from: ProcessId, to: ProcessId, at: SimTime) {
        let with_manager = from == ProcessId::MANAGER || to == ProcessId::MANAGER;
        let until = if with_manager { at + self.patience } else { at };
        self.fault_log.note(Victim::Link(from, to), at, until, Weight::OneCall);
    }

    fn add(&mut self, from: ProcessId, to: ProcessId, fate: ConnectionFault, rng: Rng) -> ConnectionId {
        self.last += 1;
        let (near, far) = (End::default(), End::default());
        self.connections
            .insert(self.last, Connection { from, to, fate, rng, near, far, answered: None, phantom: false });
        self.last
    }

    /// Arrives after everything that already goes the same way.
    fn post(&mut self, id: ConnectionId, way: Direction, at: SimTime, mail: Delivery) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let mut span = TICK + connection.rng.millis(0, JITTER);
        let (from, to) = connection.ends(way);
        if let ConnectionFault::Slow(extra) = connection.fate
            && at < self.quiet
        {
            span += extra;
            self.fault_log.note(Victim::Link(from, to), at, at + span, Weight::Everything);
        }
        let kept = self.partitions.iter().filter(|partition| partition.keeps(from, to, at)).map(|it| it.ends).max();
        let arrives = (kept.unwrap_or(at) + span).max(connection.end(way).last);
        connection.end(way).last = arrives;
        self.posted += 1;
        self.on_its_way.insert((arrives, self.posted), (id, mail));
    }

    /// `None` while it is unknown.
    pub(crate) fn answered(&mut self, id: ConnectionId, waker: &Waker) -> Option<bool> {
        let connection = self.connections.get_mut(&id)?;
        connection.near.reader = Some(waker.clone());
        connection.answered
    }

    pub(crate) fn end(&mut self, id: ConnectionId, place: Direction) -> Option<&mut End> {
        self.connections.get_mut(&id).map(|connection| connection.end(place))
    }

    pub(crate) fn who(&self, id: ConnectionId) -> ProcessId {
        self.connections.get(&id).map_or(ProcessId::MANAGER, |connection| connection.from)
    }

    pub(crate) fn send(&mut self, id: ConnectionId, way: Direction, at: SimTime, bytes: &[u8]) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let (from, to) = connection.ends(way);
        let (question, fate, active) = (way == Direction::There, connection.fate, at < self.quiet);
        let end = connection.end(way);
        let before = end.sent;
        end.sent += bytes.len() as u64;
        let mute = end.mute;
        self.overhear(at, id, (from, to), question, false, bytes);
        if mute {
            self.trace.note(at, format_args!("{from} → {to} says {} bytes that are lost ({id})", bytes.len()));
            return;
        }
        let passes = |limit: u64| usize::try_from(limit.saturating_sub(before)).unwrap_or(usize::MAX).min(bytes.len());
        match fate {
            ConnectionFault::Cut(cut, limit) if active && cut == way && passes(limit) < bytes.len() => {
                self.trace.note(at, format_args!("{from} → {to} is cut after {limit} bytes ({id})"));
                self.spoil(from, to, at);
                self.pass(id, way, at, &bytes[..passes(limit)]);
                for way in [way, way.opposite()] {
                    self.post(id, way, at, Delivery::Reset(way));
                    self.end(id, way).into_iter().for_each(|end| end.mute = true);
                }
            }
            ConnectionFault::Mute(muted, limit) if active && muted == way && passes(limit) < bytes.len() => {
                self.trace.note(at, format_args!("{from} → {to} goes silent after {limit} bytes ({id})"));
                self.spoil(from, to, at);
                self.pass(id, way, at, &bytes[..passes(limit)]);
                self.end(id, way).into_iter().for_each(|end| end.mute = true);
            }
            ConnectionFault::Doubled(later) if active && way == Direction::There && before == 0 => {
                self.pass(id, way, at, bytes);
                self.posted += 1;
                self.on_its_way
                    .insert((at + TICK + later, self.posted), (id, Delivery::Again(from, to, bytes.to_vec())));
            }
            ConnectionFault::Fair
            | ConnectionFault::Refused
            | ConnectionFault::Unheard
            | ConnectionFault::Cut(..)
            | ConnectionFault::Mute(..)
            | ConnectionFault::Slow(_)
            | ConnectionFault::Doubled(_) => self.pass(id, way, at, bytes),
        }
    }

    fn pass(&mut self, id: ConnectionId, way: Direction, at: SimTime, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.post(id, way, at, Delivery::Bytes(way, bytes.to_vec()));
        }
    }

    pub(crate) fn finish(&mut self, id: ConnectionId, way: Direction, at: SimTime) {
        if let Some(end) = self.end(id, way)
            && !std::mem::replace(&mut end.ended, true)
            && !end.mute
        {
            self.post(id, way, at, Delivery::Finish(way));
        }
    }

    pub(crate) fn leave(&mut self, id: ConnectionId, place: Direction, at: SimTime) {
        if self.end(id, place).is_some_and(|end| !end.gone) {
            self.finish(id, place, at);
            self.abandon(id, place);
        }
    }

    fn abandon(&mut self, id: ConnectionId, place: Direction) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.end(place).gone = true;
        connection.end(place).inbox.clear();
        if connection.near.gone && connection.far.gone {
            self.connections.remove(&id);
        }
    }

    pub fn crash(&mut self, whom: ProcessId, silently: bool, with_mail: bool, at: SimTime) {
        let door = &mut self.doors[whom.index()];
        *door = Door { dark: silently, ..Door::default() };
        let ends: Vec<(ConnectionId, Direction)> = self
            .connections
            .iter()
            .flat_map(|(id, connection)| {
                let ends = [(Direction::There, connection.from), (Direction::Back, connection.to)];
                ends.into_iter().filter(|(_, place)| *place == whom).map(|(way, _)| (*id, way))
            })
            .collect();
        if with_mail {
            let gone = |mail: &Delivery, id: &ConnectionId| match mail {
                Delivery::Bytes(way, _) | Delivery::Finish(way) => ends.contains(&(*id, *way)),
                Delivery::Knock => ends.contains(&(*id, Direction::There)),
                Delivery::Answer(_) => ends.contains(&(*id, Direction::Back)),
                Delivery::Reset(_) | Delivery::Again(..) => false,
            };
            self.on_its_way.retain(|_, (id, mail)| !gone(mail, id));
        }
        for (id, place) in ends {
            if !silently {
                self.post(id, place, at, Delivery::Reset(place));
            }
            self.abandon(id, place);
        }
    }

    /// The run is over: no message is under way, and no task waits.
    pub fn close(&mut self) {
        self.connections.clear();
        self.on_its_way.clear();
        self.doors.iter_mut().for_each(|door| *door = Door::default());
    }

    pub(crate) fn listen(&mut self, place: ProcessId) {
        let door = &mut self.doors[place.index()];
        (door.open, door.dark) = (true, false);
    }

    /// Delivers everything that is due; returns the tasks to wake.
    pub fn deliver(&mut self, now: SimTime) -> Vec<Waker> {
        self.now = now;
        while let Some(entry) = self.on_its_way.first_entry()
            && entry.key().0 <= now
        {
            let (id, mail) = entry.remove();
            self.arrive(id, mail);
        }
        std::mem::take(&mut self.wakers)
    }

    fn arrive(&mut self, id: ConnectionId, mail: Delivery) {
        let now = self.now;
        match mail {
            Delivery::Knock => self.knocked(id),
            Delivery::Answer(taken) => {
                if let Some(connection) = self.connections.get_mut(&id) {
                    connection.answered = Some(taken);
                    self.wakers.extend(connection.near.reader.take());
                }
            }
            Delivery::Bytes(way, bytes) => {
                let Some(connection) = self.connections.get_mut(&id) else { return };
                let ends = connection.ends(way);
                if connection.phantom && way == Direction::Back {
                    return;
                }
                let receiver = connection.end(way.opposite());
                if receiver.gone {
                    return self.turned_away(id, way);
                }
                receiver.inbox.extend(&bytes);
                self.wakers.extend(receiver.reader.take());
                let print = fingerprint(&bytes);
                self.trace.note(now, format_args!("{} → {}: {} ({id}, {print:016x})", ends.0, ends.1, gist(&bytes)));
                self.overhear(now, id, ends, way == Direction::There, true, &bytes);
            }
            Delivery::Finish(way) => {
                if let Some(end) = self.end(id, way.opposite()) {
                    end.finished = true;
                    let reader = end.reader.take();
                    self.wakers.extend(reader);
                }
            }
            Delivery::Reset(way) => {
                if let Some(end) = self.end(id, way.opposite()) {
                    end.reset = true;
                    let reader = end.reader.take();
                    self.wakers.extend(reader);
                }
            }
            Delivery::Again(from, to, bytes) => self.again(id, from, to, bytes),
        }
    }

    fn knocked(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let door = &mut self.doors[connection.to.index()];
        if door.dark {
            return;
        }
        let taken = door.open && !connection.near.gone;
        if taken {
            door.knocks.push_back(id);
            self.wakers.extend(door.keeper.take());
        } else {
            connection.far.gone = true;
        }
        self.post(id, Direction::Back, self.now, Delivery::Answer(taken));
    }

    /// A message for a stopped process: its sender gets a reset, unless the machine is gone, too.
    fn turned_away(&mut self, id: ConnectionId, way: Direction) {
        let Some(connection) = self.connections.get(&id) else { return };
        let (_, receiver) = connection.ends(way);
        if !self.doors[receiver.index()].dark {
            self.post(id, way.opposite(), self.now, Delivery::Reset(way.opposite()));
        }
    }

    /// No process waits for the answer.
    fn again(&mut self, id: ConnectionId, from: ProcessId, to: ProcessId, bytes: Vec<u8>) {
        let rng = Rng::new(self.seed, &[3, id]);
        let phantom = self.add(from, to, ConnectionFault::Fair, rng);
        self.connections.entry(phantom).and_modify(|connection| connection.phantom = true);
        self.trace.note(self.now, format_args!("{from} → {to} is heard again ({id} as {phantom})"));
        self.post(phantom, Direction::There, self.now, Delivery::Knock);
        self.post(phantom, Direction::There, self.now, Delivery::Bytes(Direction::There, bytes));
        self.posted += 1;
        self.on_its_way.insert((self.now + PHANTOM, self.posted), (phantom, Delivery::Finish(Direction::There)));
    }

    fn overhear(
        &mut self,
        at: SimTime,
        connection: ConnectionId,
        (from, to): (ProcessId, ProcessId),
        question: bool,
        arrived: bool,
        bytes: &[u8],
    ) {
        // The checker reads only the manager's messages.
        if from == ProcessId::MANAGER || to == ProcessId::MANAGER {
            self.overheard.push(ObservedMessage { at, connection, from, to, question, arrived, bytes: bytes.to_vec() });
        }
    }
}

fn gist(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let field = |name: &str| {
        let (_, rest) = text.split_once(&format!("\"{name}\":\""))?;
        rest.split_once('"').map(|(value, _)| value.to_owned())
    };
    let words = ["method", "message_type", "match_id", "status", "error_code"].into_iter().filter_map(field);
    format!("{} bytes {}", bytes.len(), words.collect::<Vec<_>>().join(" "))
}
