//! The network: connections between places, and everything that is on its way.
//!
//! Whatever is sent arrives after a while that the dice decide, never sooner than [`TICK`] and within one connection in
//! order; between connections there is no order. Processes run one after the other through the same span of time, so
//! nothing may arrive within the span in which it was sent: that is why the shortest delay is that span.

use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;
use std::time::Duration;

use crate::dice::Dice;
use crate::ledger::{Ledger, Victim, Weight};
use crate::moment::Moment;
use crate::place::Place;
use crate::scenario::Scenario;
use crate::trace::{Trace, fingerprint};
use crate::weather::{Fate, Partition, Way, Weather};

/// The span through which processes run at a time, and the least that anything is on its way.
pub const TICK: Duration = Duration::from_millis(10);
/// What the usual delay is beyond that, at most.
const JITTER: u64 = 30;
/// How long a message that was doubled by the network keeps its connection.
const PHANTOM: Duration = Duration::from_secs(5);

/// The number of a connection.
pub type ConnectionId = u64;

/// One end of a connection.
#[derive(Debug, Default)]
pub(crate) struct End {
    /// What has arrived and was not read.
    pub(crate) inbox: VecDeque<u8>,
    /// Nothing more will arrive.
    pub(crate) finished: bool,
    /// The connection is broken.
    pub(crate) reset: bool,
    /// Nobody is there any more.
    gone: bool,
    /// Bytes that were sent from here.
    sent: u64,
    /// When the last of them arrives.
    last: Moment,
    /// What is sent from here is lost.
    mute: bool,
    /// Whether the end was announced.
    ended: bool,
    pub(crate) reader: Option<Waker>,
}

#[derive(Debug)]
struct Connection {
    from: Place,
    to: Place,
    fate: Fate,
    dice: Dice,
    near: End,
    far: End,
    /// Whether it was answered: taken, or refused.
    answered: Option<bool>,
    /// Whether nobody is at its near end: the network made it by itself.
    phantom: bool,
}

impl Connection {
    fn end(&mut self, place: Way) -> &mut End {
        match place {
            Way::There => &mut self.near,
            Way::Back => &mut self.far,
        }
    }

    /// Who sends in this direction, and who receives.
    fn ends(&self, way: Way) -> (Place, Place) {
        match way {
            Way::There => (self.from, self.to),
            Way::Back => (self.to, self.from),
        }
    }
}

#[derive(Debug)]
enum Mail {
    Knock,
    Answer(bool),
    Bytes(Way, Vec<u8>),
    Finish(Way),
    /// To whoever receives in this direction.
    Reset(Way),
    /// What was said once is said again, on a connection of its own.
    Again(Place, Place, Vec<u8>),
}

/// Who waits for connections at a place.
#[derive(Debug, Default)]
pub(crate) struct Door {
    pub(crate) open: bool,
    /// The machine is gone: nobody even refuses.
    dark: bool,
    pub(crate) knocks: VecDeque<ConnectionId>,
    pub(crate) keeper: Option<Waker>,
}

/// Something that was said, for the judge to overhear.
#[derive(Clone, Debug)]
pub struct Overheard {
    /// When.
    pub at: Moment,
    /// On which connection.
    pub connection: ConnectionId,
    /// By whom.
    pub from: Place,
    /// To whom.
    pub to: Place,
    /// Whether it is a question.
    pub question: bool,
    /// Whether it has arrived, or was only sent.
    pub arrived: bool,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// The network.
#[derive(Debug)]
pub struct Net {
    seed: u64,
    weather: Weather,
    partitions: Vec<Partition>,
    quiet: Moment,
    patience: Duration,
    now: Moment,
    connections: BTreeMap<ConnectionId, Connection>,
    last: ConnectionId,
    /// How many connections there were from one place to another.
    made: BTreeMap<(Place, Place), u64>,
    on_its_way: BTreeMap<(Moment, u64), (ConnectionId, Mail)>,
    posted: u64,
    pub(crate) doors: Vec<Door>,
    /// Who is to be woken once nobody holds the network.
    wakers: Vec<Waker>,
    /// What the manager was told and has told.
    pub overheard: Vec<Overheard>,
    /// Which faults struck.
    pub ledger: Ledger,
    /// What happened.
    pub trace: Trace,
}

impl Net {
    /// The network of a scenario.
    pub fn new(scenario: &Scenario, trace: Trace) -> Self {
        let mut ledger = Ledger::default();
        for partition in &scenario.partitions {
            // What was kept back arrives within a usual delay after the end.
            let until = partition.ends + Duration::from_secs(1);
            ledger.note(Victim::Link(partition.from, partition.to), partition.begins, until, Weight::Everything);
        }
        Self {
            seed: scenario.seed,
            weather: scenario.weather,
            partitions: scenario.partitions.clone(),
            quiet: scenario.quiet,
            patience: scenario.patience,
            now: Moment::BEGIN,
            connections: BTreeMap::new(),
            last: 0,
            made: BTreeMap::new(),
            on_its_way: BTreeMap::new(),
            posted: 0,
            doors: scenario.places().map(|_| Door::default()).collect(),
            wakers: Vec::new(),
            overheard: Vec::new(),
            ledger,
            trace,
        }
    }

    /// Somebody connects.
    pub(crate) fn connect(&mut self, from: Place, to: Place, at: Moment) -> ConnectionId {
        let number = self.made.entry((from, to)).or_default();
        *number += 1;
        let mut dice = Dice::new(self.seed, &[2, u64::from(from.0), u64::from(to.0), *number]);
        let fate = if at < self.quiet { self.weather.fate(&mut dice) } else { Fate::Fair };
        let id = self.add(from, to, fate, dice);
        self.trace.note(at, format_args!("{from} → {to} connects ({id}, {fate:?})"));
        match fate {
            Fate::Unheard => self.spoil(from, to, at),
            Fate::Refused => {
                self.spoil(from, to, at);
                self.post(id, Way::Back, at, Mail::Answer(false));
            }
            Fate::Fair | Fate::Cut(..) | Fate::Mute(..) | Fate::Slow(_) | Fate::Doubled(_) => {
                self.post(id, Way::There, at, Mail::Knock);
            }
        }
        id
    }

    /// A call between these two comes to nothing. Whoever speaks with the manager may wait for it as long as it is patient.
    fn spoil(&mut self, from: Place, to: Place, at: Moment) {
        let with_manager = from == Place::MANAGER || to == Place::MANAGER;
        let until = if with_manager { at + self.patience } else { at };
        self.ledger.note(Victim::Link(from, to), at, until, Weight::OneCall);
    }

    fn add(&mut self, from: Place, to: Place, fate: Fate, dice: Dice) -> ConnectionId {
        self.last += 1;
        let (near, far) = (End::default(), End::default());
        self.connections
            .insert(self.last, Connection { from, to, fate, dice, near, far, answered: None, phantom: false });
        self.last
    }

    /// Puts something on its way, behind whatever goes the same way already.
    fn post(&mut self, id: ConnectionId, way: Way, at: Moment, mail: Mail) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let mut span = TICK + connection.dice.millis(0, JITTER);
        let (from, to) = connection.ends(way);
        if let Fate::Slow(extra) = connection.fate
            && at < self.quiet
        {
            span += extra;
            self.ledger.note(Victim::Link(from, to), at, at + span, Weight::Everything);
        }
        let kept = self.partitions.iter().filter(|partition| partition.keeps(from, to, at)).map(|it| it.ends).max();
        let arrives = (kept.unwrap_or(at) + span).max(connection.end(way).last);
        connection.end(way).last = arrives;
        self.posted += 1;
        self.on_its_way.insert((arrives, self.posted), (id, mail));
    }

    /// Whether somebody was heard at the other end: not yet, taken, or refused.
    pub(crate) fn answered(&mut self, id: ConnectionId, waker: &Waker) -> Option<bool> {
        let connection = self.connections.get_mut(&id)?;
        connection.near.reader = Some(waker.clone());
        connection.answered
    }

    /// One end of a connection, as long as it is in use.
    pub(crate) fn end(&mut self, id: ConnectionId, place: Way) -> Option<&mut End> {
        self.connections.get_mut(&id).map(|connection| connection.end(place))
    }

    /// Who connected.
    pub(crate) fn who(&self, id: ConnectionId) -> Place {
        self.connections.get(&id).map_or(Place::MANAGER, |connection| connection.from)
    }

    /// Somebody sends bytes.
    pub(crate) fn send(&mut self, id: ConnectionId, way: Way, at: Moment, bytes: &[u8]) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let (from, to) = connection.ends(way);
        let (question, fate, active) = (way == Way::There, connection.fate, at < self.quiet);
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
            Fate::Cut(cut, limit) if active && cut == way && passes(limit) < bytes.len() => {
                self.trace.note(at, format_args!("{from} → {to} is cut after {limit} bytes ({id})"));
                self.spoil(from, to, at);
                self.pass(id, way, at, &bytes[..passes(limit)]);
                for way in [way, way.opposite()] {
                    self.post(id, way, at, Mail::Reset(way));
                    self.end(id, way).into_iter().for_each(|end| end.mute = true);
                }
            }
            Fate::Mute(muted, limit) if active && muted == way && passes(limit) < bytes.len() => {
                self.trace.note(at, format_args!("{from} → {to} goes silent after {limit} bytes ({id})"));
                self.spoil(from, to, at);
                self.pass(id, way, at, &bytes[..passes(limit)]);
                self.end(id, way).into_iter().for_each(|end| end.mute = true);
            }
            Fate::Doubled(later) if active && way == Way::There && before == 0 => {
                self.pass(id, way, at, bytes);
                self.posted += 1;
                self.on_its_way.insert((at + TICK + later, self.posted), (id, Mail::Again(from, to, bytes.to_vec())));
            }
            Fate::Fair
            | Fate::Refused
            | Fate::Unheard
            | Fate::Cut(..)
            | Fate::Mute(..)
            | Fate::Slow(_)
            | Fate::Doubled(_) => self.pass(id, way, at, bytes),
        }
    }

    fn pass(&mut self, id: ConnectionId, way: Way, at: Moment, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.post(id, way, at, Mail::Bytes(way, bytes.to_vec()));
        }
    }

    /// Somebody has nothing more to say.
    pub(crate) fn finish(&mut self, id: ConnectionId, way: Way, at: Moment) {
        if let Some(end) = self.end(id, way)
            && !std::mem::replace(&mut end.ended, true)
            && !end.mute
        {
            self.post(id, way, at, Mail::Finish(way));
        }
    }

    /// Somebody lets go of its end.
    pub(crate) fn leave(&mut self, id: ConnectionId, place: Way, at: Moment) {
        if self.end(id, place).is_some_and(|end| !end.gone) {
            self.finish(id, place, at);
            self.abandon(id, place);
        }
    }

    fn abandon(&mut self, id: ConnectionId, place: Way) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.end(place).gone = true;
        connection.end(place).inbox.clear();
        if connection.near.gone && connection.far.gone {
            self.connections.remove(&id);
        }
    }

    /// A process is gone, with all its connections.
    pub fn crash(&mut self, whom: Place, silently: bool, with_mail: bool, at: Moment) {
        let door = &mut self.doors[whom.index()];
        *door = Door { dark: silently, ..Door::default() };
        let ends: Vec<(ConnectionId, Way)> = self
            .connections
            .iter()
            .flat_map(|(id, connection)| {
                let ends = [(Way::There, connection.from), (Way::Back, connection.to)];
                ends.into_iter().filter(|(_, place)| *place == whom).map(|(way, _)| (*id, way))
            })
            .collect();
        if with_mail {
            let gone = |mail: &Mail, id: &ConnectionId| match mail {
                Mail::Bytes(way, _) | Mail::Finish(way) => ends.contains(&(*id, *way)),
                Mail::Knock => ends.contains(&(*id, Way::There)),
                Mail::Answer(_) => ends.contains(&(*id, Way::Back)),
                Mail::Reset(_) | Mail::Again(..) => false,
            };
            self.on_its_way.retain(|_, (id, mail)| !gone(mail, id));
        }
        for (id, place) in ends {
            if !silently {
                self.post(id, place, at, Mail::Reset(place));
            }
            self.abandon(id, place);
        }
    }

    /// The run is over: nothing is on its way any more, and nobody waits.
    pub fn close(&mut self) {
        self.connections.clear();
        self.on_its_way.clear();
        self.doors.iter_mut().for_each(|door| *door = Door::default());
    }

    /// Somebody listens at this place from now on.
    pub(crate) fn listen(&mut self, place: Place) {
        let door = &mut self.doors[place.index()];
        (door.open, door.dark) = (true, false);
    }

    /// Lets everything arrive that is due, and gives who is to be woken then.
    pub fn deliver(&mut self, now: Moment) -> Vec<Waker> {
        self.now = now;
        while let Some(entry) = self.on_its_way.first_entry()
            && entry.key().0 <= now
        {
            let (id, mail) = entry.remove();
            self.arrive(id, mail);
        }
        std::mem::take(&mut self.wakers)
    }

    fn arrive(&mut self, id: ConnectionId, mail: Mail) {
        let now = self.now;
        match mail {
            Mail::Knock => self.knocked(id),
            Mail::Answer(taken) => {
                if let Some(connection) = self.connections.get_mut(&id) {
                    connection.answered = Some(taken);
                    self.wakers.extend(connection.near.reader.take());
                }
            }
            Mail::Bytes(way, bytes) => {
                let Some(connection) = self.connections.get_mut(&id) else { return };
                let ends = connection.ends(way);
                if connection.phantom && way == Way::Back {
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
                self.overhear(now, id, ends, way == Way::There, true, &bytes);
            }
            Mail::Finish(way) => {
                if let Some(end) = self.end(id, way.opposite()) {
                    end.finished = true;
                    let reader = end.reader.take();
                    self.wakers.extend(reader);
                }
            }
            Mail::Reset(way) => {
                if let Some(end) = self.end(id, way.opposite()) {
                    end.reset = true;
                    let reader = end.reader.take();
                    self.wakers.extend(reader);
                }
            }
            Mail::Again(from, to, bytes) => self.again(id, from, to, bytes),
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
        self.post(id, Way::Back, self.now, Mail::Answer(taken));
    }

    /// Something arrived where nobody is: whoever sent it is told, unless the machine is gone as well.
    fn turned_away(&mut self, id: ConnectionId, way: Way) {
        let Some(connection) = self.connections.get(&id) else { return };
        let (_, receiver) = connection.ends(way);
        if !self.doors[receiver.index()].dark {
            self.post(id, way.opposite(), self.now, Mail::Reset(way.opposite()));
        }
    }

    /// What was said once arrives again, as if whoever said it had connected anew. Nobody waits for the answer.
    fn again(&mut self, id: ConnectionId, from: Place, to: Place, bytes: Vec<u8>) {
        let dice = Dice::new(self.seed, &[3, id]);
        let phantom = self.add(from, to, Fate::Fair, dice);
        self.connections.entry(phantom).and_modify(|connection| connection.phantom = true);
        self.trace.note(self.now, format_args!("{from} → {to} is heard again ({id} as {phantom})"));
        self.post(phantom, Way::There, self.now, Mail::Knock);
        self.post(phantom, Way::There, self.now, Mail::Bytes(Way::There, bytes));
        self.posted += 1;
        self.on_its_way.insert((self.now + PHANTOM, self.posted), (phantom, Mail::Finish(Way::There)));
    }

    fn overhear(
        &mut self,
        at: Moment,
        connection: ConnectionId,
        (from, to): (Place, Place),
        question: bool,
        arrived: bool,
        bytes: &[u8],
    ) {
        // Who plays how is the players' business; what is checked is what the manager was told.
        if from == Place::MANAGER || to == Place::MANAGER {
            self.overheard.push(Overheard { at, connection, from, to, question, arrived, bytes: bytes.to_vec() });
        }
    }
}

/// What a message is about, in a few words.
fn gist(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let field = |name: &str| {
        let (_, rest) = text.split_once(&format!("\"{name}\":\""))?;
        rest.split_once('"').map(|(value, _)| value.to_owned())
    };
    let words = ["method", "message_type", "match_id", "status", "error_code"].into_iter().filter_map(field);
    format!("{} bytes {}", bytes.len(), words.collect::<Vec<_>>().join(" "))
}
