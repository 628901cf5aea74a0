//! One run: a scenario, from its beginning until the league is over or an invariant is violated.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use league_core::season::event::Event;
use league_core::season::{LeaguePhase, Season};

use crate::agents::{RunContext, Signal};
use crate::disk::{Disk, Honesty};
use crate::fault_log::{Victim, Weight};
use crate::invariants::{InvariantChecker, Tally, Violation};
use crate::net::{Net, TICK};
use crate::process::{Exit, Process};
use crate::process_id::ProcessId;
use crate::rng::Rng;
use crate::scenario::{Incident, LeaderFault, Role, Scenario};
use crate::shared_store::{Fence, SharedStore};
use crate::sim_time::SimTime;
use crate::socket::Shared;
use crate::trace::Trace;

/// How long a run continues after the end of its league: nothing may change any more.
const AFTERWARDS: Duration = Duration::from_secs(3);
/// The pause before a process that ended by itself is restarted.
const AGAIN: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    pub lines: bool,
    /// A lying disk shows that the checker notices.
    pub honesty: Honesty,
    /// A store without a fence shows that the checker notices.
    pub fence: Fence,
}

#[derive(Debug)]
pub struct Outcome {
    pub seed: u64,
    pub violation: Option<Violation>,
    pub ended: SimTime,
    pub hash: u64,
    pub count: u64,
    pub tally: Tally,
    /// Empty unless they are wanted.
    pub lines: Vec<String>,
    pub events: Vec<Event>,
    pub season: Option<Season>,
    /// The winners that hostile players were told, by match.
    pub told: BTreeMap<String, Vec<Option<String>>>,
    /// Messages that hostile agents changed.
    pub changed: u64,
}

struct Run {
    scenario: Arc<Scenario>,
    context: RunContext,
    net: Shared,
    processes: Vec<Process>,
    checker: InvariantChecker,
    now: SimTime,
    /// Incidents that are decided during the run.
    ambushes: Vec<(SimTime, Incident)>,
    assigned: u64,
    over: Option<SimTime>,
}

/// An error is a fault of the simulation itself.
pub fn run(seed: u64, wanted: Wanted) -> Result<Outcome, Box<dyn Error + Send + Sync>> {
    play(Scenario::of(seed)?, wanted)
}

pub fn play(scenario: Scenario, wanted: Wanted) -> Result<Outcome, Box<dyn Error + Send + Sync>> {
    let (seed, scenario) = (scenario.seed, Arc::new(scenario));
    let mut trace = Trace::new(wanted.lines);
    trace.note(SimTime::BEGIN, format_args!("{scenario:?}"));
    let net = Shared::new(Net::new(&scenario, trace));
    let home = if scenario.loads_history { Some(tempfile::tempdir()?) } else { None };
    let disk = Disk::new(seed, scenario.disk, wanted.honesty);
    let home_path = home.as_ref().map(|home| home.path().to_owned());
    let context = RunContext::new(Arc::clone(&scenario), disk, wanted.fence, home_path);
    let mut rng = Rng::new(seed, &[6]);
    let processes = scenario.processes().map(|id| Process::due(id, SimTime::BEGIN + rng.millis(0, 800))).collect();
    let checker = InvariantChecker::new(Arc::clone(&scenario));
    let mut run = Run {
        scenario,
        context,
        net,
        processes,
        checker,
        now: SimTime::BEGIN,
        ambushes: Vec::new(),
        assigned: 0,
        over: None,
    };
    let violation = run.play()?.err().map(|what| Violation { at: run.now, what });
    let trace = std::mem::take(&mut run.net.lock().trace);
    let (ended, tally) = (run.now, run.checker.tally);
    // Tasks hold the network, and the network holds their wakers: a finished task must not be polled again.
    run.net.lock().close();
    run.processes.clear();
    let (hash, count) = (trace.hash(), trace.count());
    let (season, events) = (run.checker.season().cloned(), std::mem::take(&mut run.checker.events));
    let (told, changed) = (run.context.adversaries.told(), run.context.adversaries.changed());
    Ok(Outcome { seed, violation, ended, hash, count, tally, lines: trace.lines(), events, season, told, changed })
}

impl Run {
    fn play(&mut self) -> std::io::Result<Result<(), String>> {
        let mut incidents = self.scenario.incidents.clone().into_iter().peekable();
        loop {
            while let Some((_, incident)) = incidents.next_if(|(at, _)| *at <= self.now) {
                self.apply(incident);
            }
            let now = self.now;
            for (_, incident) in self.ambushes.extract_if(.., |(at, _)| *at <= now).collect::<Vec<_>>() {
                self.apply(incident);
            }
            self.start_due_processes()?;
            let woken = self.net.lock().deliver(self.now);
            woken.into_iter().for_each(std::task::Waker::wake);
            let next = self.now + TICK;
            for index in 0..self.processes.len() {
                if let Some(exit) = self.processes[index].step(next)
                    && let Err(what) = self.exited(index, exit)
                {
                    return Ok(Err(what));
                }
            }
            self.now = next;
            if let Err(what) = self.check() {
                return Ok(Err(what));
            }
            self.plan_ambushes();
            if self.over.is_some_and(|over| self.now > over + AFTERWARDS) {
                return Ok(Ok(()));
            }
        }
    }

    /// Decides whether to kill an agent of a match that was just assigned.
    fn plan_ambushes(&mut self) {
        let assigned = std::mem::take(&mut self.checker.assigned);
        for agents in assigned.into_iter().filter(|_| self.now < self.scenario.quiet) {
            self.assigned += 1;
            let ambush = self.scenario.ambush(self.assigned, agents);
            self.ambushes.extend(ambush.map(|(later, incident)| (self.now + later, incident)));
        }
    }

    /// Includes those that will be restarted.
    fn referees(&self) -> usize {
        let is_referee = |process: &&Process| matches!(self.scenario.role(process.id), Role::Referee(_));
        let is_coming = |process: &&Process| process.is_alive() || process.due.is_some();
        self.processes.iter().filter(is_referee).filter(is_coming).count()
    }

    fn apply(&mut self, incident: Incident) {
        let now = self.now;
        match incident {
            Incident::Kill { process: id, away, silently, loses_mail } => {
                let referees = self.referees();
                let found = self.processes.iter_mut().find(|process| process.id == id && process.is_alive());
                let Some(process) = found else { return };
                // An agent that never comes back must have registered, and one referee must remain.
                let begun = self.checker.phase() != LeaguePhase::WaitingForRegistrations;
                let last = matches!(self.scenario.role(id), Role::Referee(_)) && referees <= 1;
                let away = away.or((!begun || last).then_some(AGAIN));
                process.due = away.map(|away| now + away);
                let mut net = self.net.lock();
                net.trace.note(now, format_args!("{id} is killed ({away:?}, silently: {silently})"));
                // It starts with the tick in which it is due.
                let until = process.due.map_or(SimTime::NEVER, |due| due + TICK);
                net.fault_log.note(Victim::Process(id), now, until, Weight::Everything);
                net.crash(id, silently, loses_mail, now);
                self.checker.ended(id, now, &mut net.fault_log);
                drop(net);
                if id == ProcessId::MANAGER && self.context.store.is_none() {
                    self.context.disk.crash();
                }
                process.end();
            }
            Incident::Clock { process, by } => {
                self.net.lock().trace.note(now, format_args!("the clock of {process} jumps by {by} s"));
                if let Some(clock) = self.context.clocks.get(process.index()) {
                    clock.fetch_add(by * 1000, Ordering::Relaxed);
                }
            }
            Incident::Leader(fault) => {
                let Some((store, leader)) =
                    self.context.store.as_ref().and_then(|store| Some((store, store.holder()?)))
                else {
                    return;
                };
                self.checker.tally.leader_faults += 1;
                match fault {
                    LeaderFault::Kill { away, silently } => {
                        let away = Some(away);
                        self.apply(Incident::Kill { process: leader, away, silently, loses_mail: false });
                    }
                    LeaderFault::CutOff(span) => {
                        store.cut_off(leader, now + span);
                        let mut net = self.net.lock();
                        net.trace.note(now, format_args!("{leader} cannot reach the store for {span:?}"));
                        net.fault_log.note(Victim::Process(leader), now, now + span, Weight::Everything);
                    }
                }
            }
            Incident::Disk => {
                self.net.lock().trace.note(now, format_args!("the disk fails"));
                self.context.disk.fail();
            }
        }
    }

    fn start_due_processes(&mut self) -> std::io::Result<()> {
        let now = self.now;
        for process in self.processes.iter_mut().filter(|process| process.due.is_some_and(|due| due <= now)) {
            let (context, life, id) = (self.context.clone(), process.lives, process.id);
            let mut net = self.net.lock();
            net.trace.note(now, format_args!("{id} starts as {:?}", self.scenario.role(id)));
            net.fault_log.started(id, now);
            drop(net);
            match self.scenario.role(id) {
                Role::Manager => process.start(&self.net, now, |connector| context.manage(connector, life))?,
                Role::Referee(number) if self.scenario.hostility.is_hostile_referee(id) => {
                    process.start(&self.net, now, |connector| context.officiate_hostile(connector, life, number))?;
                }
                Role::Referee(number) => {
                    process.start(&self.net, now, |connector| context.officiate(connector, life, number))?;
                }
                Role::Player(number) => {
                    process.start(&self.net, now, |connector| context.play(connector, life, number))?;
                }
            }
        }
        Ok(())
    }

    fn exited(&mut self, index: usize, exit: Exit) -> Result<(), String> {
        let process = &mut self.processes[index];
        let id = process.id;
        let mut net = self.net.lock();
        net.trace.note(self.now, format_args!("{id} ends: {exit:?}"));
        net.crash(id, false, false, self.now);
        self.checker.ended(id, self.now, &mut net.fault_log);
        drop(net);
        process.end();
        match exit {
            Exit::Done => Ok(()),
            Exit::TurnedAway(_) if self.checker.phase() == LeaguePhase::LeagueCompleted => Ok(()),
            Exit::TurnedAway(_) if self.checker.is_withdrawn(id) => Ok(()),
            Exit::TurnedAway(_) if self.scenario.hostility.is_hostile_referee(id) => Ok(()),
            Exit::TurnedAway(reason) => Err(format!("{id} was turned away: {reason}")),
            Exit::Failed(reason) if reason.contains("no space left") => {
                self.context.disk.crash();
                process.due = Some(self.now + AGAIN);
                Ok(())
            }
            // It lost its lease, or could not write: it starts again as a standby.
            Exit::Failed(_) if self.context.store.is_some() && id.is_manager() => {
                process.due = Some(self.now + AGAIN);
                Ok(())
            }
            Exit::Failed(reason) => Err(format!("{id} failed: {reason}")),
        }
    }

    fn check(&mut self) -> Result<(), String> {
        let (now, checker) = (self.now, &mut self.checker);
        let mut net = self.net.lock();
        let observed = std::mem::take(&mut net.observed);
        let Net { fault_log, trace, .. } = &mut *net;
        let grew = checker.read(now, &self.context.disk, fault_log, trace)?;
        for message in &observed {
            checker.observe(message, fault_log)?;
        }
        for signal in self.context.signals() {
            match signal {
                Signal::Resumed(season, events) => checker.resumed(now, &season, events, &self.context.disk)?,
                Signal::Season(season, id, since) if !grew && self.context.leads(id) => {
                    // The answer to a commit may be lost, so that the manager learns of it later.
                    if self.context.store.is_none() || checker.durable() == since {
                        checker.compare(&season)?;
                    }
                }
                Signal::Season(..) => {}
                Signal::Admitted(id) => fault_log.admitted(id, now),
                Signal::Concluded => {
                    trace.note(now, format_args!("the league is over"));
                    checker.concluded()?;
                    self.over.get_or_insert(now);
                }
            }
        }
        if let Some(violation) = self.context.store.as_ref().and_then(SharedStore::violation) {
            return Err(violation);
        }
        checker.check_bounds(now, fault_log)
    }
}
