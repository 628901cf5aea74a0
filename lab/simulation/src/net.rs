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
use crate::invariants::field;
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
    fault: ConnectionFault,
    rng: Rng,
    near: End,
    far: End,
    /// Accepted or refused; `None` before the answer.
    answered: Option<bool>,
    /// Made by the network itself: no process is at its near end.
    phantom: bool,
}

impl Connection {
    fn end(&mut self, direction: Direction) -> &mut End {
        match direction {
            Direction::There => &mut self.near,
            Direction::Back => &mut self.far,
        }
    }

    fn ends(&self, direction: Direction) -> (ProcessId, ProcessId) {
        match direction {
            Direction::There => (self.from, self.to),
            Direction::Back => (self.to, self.from),
        }
    }
}

#[derive(Debug)]
enum Delivery {
    Connect,
    Answer(bool),
    Bytes(Direction, Vec<u8>),
    Finish(Direction),
    /// Goes to the receiver of this direction.
    Reset(Direction),
    /// A duplicate on a separate connection.
    Duplicate(ProcessId, ProcessId, Vec<u8>),
}

/// The listener of a process.
#[derive(Debug, Default)]
pub(crate) struct ListenerState {
    pub(crate) open: bool,
    /// The machine is gone: it does not even refuse.
    machine_gone: bool,
    pub(crate) pending: VecDeque<ConnectionId>,
    pub(crate) waker: Option<Waker>,
}

/// A message that the checker reads.
#[derive(Clone, Debug)]
pub struct ObservedMessage {
    pub at: SimTime,
    pub connection: ConnectionId,
    pub from: ProcessId,
    pub to: ProcessId,
    pub is_request: bool,
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
    answer_limit: Duration,
    now: SimTime,
    connections: BTreeMap<ConnectionId, Connection>,
    last: ConnectionId,
    made: BTreeMap<(ProcessId, ProcessId), u64>,
    in_flight: BTreeMap<(SimTime, u64), (ConnectionId, Delivery)>,
    posted: u64,
    pub(crate) listeners: Vec<ListenerState>,
    /// Woken after the lock on the network is released.
    wakers: Vec<Waker>,
    /// The messages to and from the manager.
    pub observed: Vec<ObservedMessage>,
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
            answer_limit: scenario.answer_limit,
            now: SimTime::BEGIN,
            connections: BTreeMap::new(),
            last: 0,
            made: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            posted: 0,
            listeners: (0..=u8::MAX).map(|_| ListenerState::default()).collect(),
            wakers: Vec::new(),
            observed: Vec::new(),
            fault_log,
            trace,
        }
    }

    pub(crate) fn connect(&mut self, from: ProcessId, to: ProcessId, at: SimTime) -> ConnectionId {
        let number = self.made.entry((from, to)).or_default();
        *number += 1;
        let mut rng = Rng::new(self.seed, &[2, u64::from(from.0), u64::from(to.0), *number]);
        let fault = if at < self.quiet { self.faults.draw(&mut rng) } else { ConnectionFault::Fair };
        let id = self.add(from, to, fault, rng);
        self.trace.note(at, format_args!("{from} → {to} connects ({id}, {fault:?})"));
        match fault {
            ConnectionFault::Unheard => self.log_lost_call(from, to, at),
            ConnectionFault::Refused => {
                self.log_lost_call(from, to, at);
                self.post(id, Direction::Back, at, Delivery::Answer(false));
            }
            ConnectionFault::Fair
            | ConnectionFault::Cut(..)
            | ConnectionFault::Mute(..)
            | ConnectionFault::Slow(_)
            | ConnectionFault::Doubled(_) => {
                self.post(id, Direction::There, at, Delivery::Connect);
            }
        }
        id
    }

    /// A call between these two fails. A peer of the manager may wait for it until its own limit.
    fn log_lost_call(&mut self, from: ProcessId, to: ProcessId, at: SimTime) {
        let with_manager = from.is_manager() || to.is_manager();
        let until = if with_manager { at + self.answer_limit } else { at };
        self.fault_log.note(Victim::Link(from, to), at, until, Weight::OneCall);
    }

    fn add(&mut self, from: ProcessId, to: ProcessId, fault: ConnectionFault, rng: Rng) -> ConnectionId {
        self.last += 1;
        let (near, far) = (End::default(), End::default());
        self.connections
            .insert(self.last, Connection { from, to, fault, rng, near, far, answered: None, phantom: false });
        self.last
    }

    /// Arrives after everything that already goes the same way.
    fn post(&mut self, id: ConnectionId, direction: Direction, at: SimTime, delivery: Delivery) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let mut span = TICK + connection.rng.millis(0, JITTER);
        let (from, to) = connection.ends(direction);
        if let ConnectionFault::Slow(extra) = connection.fault
            && at < self.quiet
        {
            span += extra;
            self.fault_log.note(Victim::Link(from, to), at, at + span, Weight::Everything);
        }
        let kept = self
            .partitions
            .iter()
            .filter(|partition| partition.keeps(from, to, at))
            .map(|partition| partition.ends)
            .max();
        let arrives = (kept.unwrap_or(at) + span).max(connection.end(direction).last);
        connection.end(direction).last = arrives;
        self.posted += 1;
        self.in_flight.insert((arrives, self.posted), (id, delivery));
    }

    /// `None` while it is unknown.
    pub(crate) fn answered(&mut self, id: ConnectionId, waker: &Waker) -> Option<bool> {
        let connection = self.connections.get_mut(&id)?;
        connection.near.reader = Some(waker.clone());
        connection.answered
    }

    pub(crate) fn end(&mut self, id: ConnectionId, direction: Direction) -> Option<&mut End> {
        self.connections.get_mut(&id).map(|connection| connection.end(direction))
    }

    pub(crate) fn client_of(&self, id: ConnectionId) -> ProcessId {
        self.connections.get(&id).map_or(ProcessId::MANAGER, |connection| connection.from)
    }

    pub(crate) fn send(&mut self, id: ConnectionId, direction: Direction, at: SimTime, bytes: &[u8]) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let (from, to) = connection.ends(direction);
        let (is_request, fault, active) = (direction == Direction::There, connection.fault, at < self.quiet);
        let end = connection.end(direction);
        let before = end.sent;
        end.sent += bytes.len() as u64;
        let mute = end.mute;
        self.observe(at, id, (from, to), is_request, false, bytes);
        if mute {
            self.trace.note(at, format_args!("{from} → {to} says {} bytes that are lost ({id})", bytes.len()));
            return;
        }
        let passes = |limit: u64| usize::try_from(limit.saturating_sub(before)).unwrap_or(usize::MAX).min(bytes.len());
        match fault {
            ConnectionFault::Cut(cut, limit) if active && cut == direction && passes(limit) < bytes.len() => {
                self.trace.note(at, format_args!("{from} → {to} is cut after {limit} bytes ({id})"));
                self.log_lost_call(from, to, at);
                self.pass(id, direction, at, &bytes[..passes(limit)]);
                for direction in [direction, direction.opposite()] {
                    self.post(id, direction, at, Delivery::Reset(direction));
                    self.end(id, direction).into_iter().for_each(|end| end.mute = true);
                }
            }
            ConnectionFault::Mute(muted, limit) if active && muted == direction && passes(limit) < bytes.len() => {
                self.trace.note(at, format_args!("{from} → {to} goes silent after {limit} bytes ({id})"));
                self.log_lost_call(from, to, at);
                self.pass(id, direction, at, &bytes[..passes(limit)]);
                self.end(id, direction).into_iter().for_each(|end| end.mute = true);
            }
            ConnectionFault::Doubled(later) if active && direction == Direction::There && before == 0 => {
                self.pass(id, direction, at, bytes);
                self.posted += 1;
                self.in_flight
                    .insert((at + TICK + later, self.posted), (id, Delivery::Duplicate(from, to, bytes.to_vec())));
            }
            ConnectionFault::Fair
            | ConnectionFault::Refused
            | ConnectionFault::Unheard
            | ConnectionFault::Cut(..)
            | ConnectionFault::Mute(..)
            | ConnectionFault::Slow(_)
            | ConnectionFault::Doubled(_) => self.pass(id, direction, at, bytes),
        }
    }

    fn pass(&mut self, id: ConnectionId, direction: Direction, at: SimTime, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.post(id, direction, at, Delivery::Bytes(direction, bytes.to_vec()));
        }
    }

    pub(crate) fn finish(&mut self, id: ConnectionId, direction: Direction, at: SimTime) {
        if let Some(end) = self.end(id, direction)
            && !std::mem::replace(&mut end.ended, true)
            && !end.mute
        {
            self.post(id, direction, at, Delivery::Finish(direction));
        }
    }

    pub(crate) fn leave(&mut self, id: ConnectionId, direction: Direction, at: SimTime) {
        if self.end(id, direction).is_some_and(|end| !end.gone) {
            self.finish(id, direction, at);
            self.abandon(id, direction);
        }
    }

    fn abandon(&mut self, id: ConnectionId, direction: Direction) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.end(direction).gone = true;
        connection.end(direction).inbox.clear();
        if connection.near.gone && connection.far.gone {
            self.connections.remove(&id);
        }
    }

    pub fn crash(&mut self, process: ProcessId, silently: bool, loses_mail: bool, at: SimTime) {
        let listener = &mut self.listeners[process.index()];
        *listener = ListenerState { machine_gone: silently, ..ListenerState::default() };
        let ends: Vec<(ConnectionId, Direction)> = self
            .connections
            .iter()
            .flat_map(|(id, connection)| {
                let ends = [(Direction::There, connection.from), (Direction::Back, connection.to)];
                ends.into_iter().filter(|(_, owner)| *owner == process).map(|(direction, _)| (*id, direction))
            })
            .collect();
        if loses_mail {
            let gone = |delivery: &Delivery, id: &ConnectionId| match delivery {
                Delivery::Bytes(direction, _) | Delivery::Finish(direction) => ends.contains(&(*id, *direction)),
                Delivery::Connect => ends.contains(&(*id, Direction::There)),
                Delivery::Answer(_) => ends.contains(&(*id, Direction::Back)),
                Delivery::Reset(_) | Delivery::Duplicate(..) => false,
            };
            self.in_flight.retain(|_, (id, delivery)| !gone(delivery, id));
        }
        for (id, direction) in ends {
            if !silently {
                self.post(id, direction, at, Delivery::Reset(direction));
            }
            self.abandon(id, direction);
        }
    }

    /// The run is over: no message is under way, and no task waits.
    pub fn close(&mut self) {
        self.connections.clear();
        self.in_flight.clear();
        self.listeners.iter_mut().for_each(|listener| *listener = ListenerState::default());
    }

    pub(crate) fn listen(&mut self, process: ProcessId) {
        let listener = &mut self.listeners[process.index()];
        (listener.open, listener.machine_gone) = (true, false);
    }

    /// Delivers everything that is due; returns the tasks to wake.
    pub fn deliver(&mut self, now: SimTime) -> Vec<Waker> {
        self.now = now;
        while let Some(entry) = self.in_flight.first_entry()
            && entry.key().0 <= now
        {
            let (id, delivery) = entry.remove();
            self.arrive(id, delivery);
        }
        std::mem::take(&mut self.wakers)
    }

    fn arrive(&mut self, id: ConnectionId, delivery: Delivery) {
        let now = self.now;
        match delivery {
            Delivery::Connect => self.connect_arrived(id),
            Delivery::Answer(taken) => {
                if let Some(connection) = self.connections.get_mut(&id) {
                    connection.answered = Some(taken);
                    self.wakers.extend(connection.near.reader.take());
                }
            }
            Delivery::Bytes(direction, bytes) => {
                let Some(connection) = self.connections.get_mut(&id) else { return };
                let ends = connection.ends(direction);
                if connection.phantom && direction == Direction::Back {
                    return;
                }
                let receiver = connection.end(direction.opposite());
                if receiver.gone {
                    return self.reset_sender(id, direction);
                }
                receiver.inbox.extend(&bytes);
                self.wakers.extend(receiver.reader.take());
                let print = fingerprint(&bytes);
                self.trace.note(now, format_args!("{} → {}: {} ({id}, {print:016x})", ends.0, ends.1, summary(&bytes)));
                self.observe(now, id, ends, direction == Direction::There, true, &bytes);
            }
            Delivery::Finish(direction) => self.wake(id, direction, |end| end.finished = true),
            Delivery::Reset(direction) => self.wake(id, direction, |end| end.reset = true),
            Delivery::Duplicate(from, to, bytes) => self.duplicate(id, from, to, bytes),
        }
    }

    fn wake(&mut self, id: ConnectionId, direction: Direction, change: fn(&mut End)) {
        if let Some(end) = self.end(id, direction.opposite()) {
            change(end);
            let reader = end.reader.take();
            self.wakers.extend(reader);
        }
    }

    fn connect_arrived(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let listener = &mut self.listeners[connection.to.index()];
        if listener.machine_gone {
            return;
        }
        let taken = listener.open && !connection.near.gone;
        if taken {
            listener.pending.push_back(id);
            self.wakers.extend(listener.waker.take());
        } else {
            connection.far.gone = true;
        }
        self.post(id, Direction::Back, self.now, Delivery::Answer(taken));
    }

    /// A message for a stopped process: its sender gets a reset, unless the machine is gone, too.
    fn reset_sender(&mut self, id: ConnectionId, direction: Direction) {
        let Some(connection) = self.connections.get(&id) else { return };
        let (_, receiver) = connection.ends(direction);
        if !self.listeners[receiver.index()].machine_gone {
            self.post(id, direction.opposite(), self.now, Delivery::Reset(direction.opposite()));
        }
    }

    /// No process waits for the answer.
    fn duplicate(&mut self, id: ConnectionId, from: ProcessId, to: ProcessId, bytes: Vec<u8>) {
        let rng = Rng::new(self.seed, &[3, id]);
        let phantom = self.add(from, to, ConnectionFault::Fair, rng);
        self.connections.entry(phantom).and_modify(|connection| connection.phantom = true);
        self.trace.note(self.now, format_args!("{from} → {to} is duplicated ({id} as {phantom})"));
        self.post(phantom, Direction::There, self.now, Delivery::Connect);
        self.post(phantom, Direction::There, self.now, Delivery::Bytes(Direction::There, bytes));
        self.posted += 1;
        self.in_flight.insert((self.now + PHANTOM, self.posted), (phantom, Delivery::Finish(Direction::There)));
    }

    fn observe(
        &mut self,
        at: SimTime,
        connection: ConnectionId,
        (from, to): (ProcessId, ProcessId),
        is_request: bool,
        arrived: bool,
        bytes: &[u8],
    ) {
        // The checker reads only the manager's messages.
        if from.is_manager() || to.is_manager() {
            self.observed.push(ObservedMessage {
                at,
                connection,
                from,
                to,
                is_request,
                arrived,
                bytes: bytes.to_vec(),
            });
        }
    }
}

fn summary(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let names = ["method", "message_type", "match_id", "status", "error_code"].into_iter();
    let words = names.filter_map(|name| field(&text, name));
    format!("{} bytes {}", bytes.len(), words.collect::<Vec<_>>().join(" "))
}
