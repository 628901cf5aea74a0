//! One run: a scenario, from its beginning until the league is over or an invariant is violated.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use league_core::season::LeaguePhase;

use crate::agents::{RunContext, Signal};
use crate::disk::{Disk, Honesty};
use crate::fault_log::{Victim, Weight};
use crate::invariants::{InvariantChecker, Tally, Violation};
use crate::net::{Net, TICK};
use crate::process::{Exit, Process};
use crate::process_id::ProcessId;
use crate::rng::Rng;
use crate::scenario::{Incident, Role, Scenario};
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
}

struct Run {
    scenario: Arc<Scenario>,
    cast: RunContext,
    net: Shared,
    processes: Vec<Process>,
    judge: InvariantChecker,
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
    let home = if scenario.recalls { Some(tempfile::tempdir()?) } else { None };
    let disk = Disk::new(seed, scenario.disk, wanted.honesty);
    let cast = RunContext::new(Arc::clone(&scenario), disk, home.as_ref().map(|home| home.path().to_owned()));
    let mut rng = Rng::new(seed, &[6]);
    let processes = scenario.places().map(|place| Process::due(place, SimTime::BEGIN + rng.millis(0, 800))).collect();
    let judge = InvariantChecker::new(Arc::clone(&scenario));
    let mut run = Run {
        scenario,
        cast,
        net,
        processes,
        judge,
        now: SimTime::BEGIN,
        ambushes: Vec::new(),
        assigned: 0,
        over: None,
    };
    let violation = run.play()?.err().map(|what| Violation { at: run.now, what });
    let trace = std::mem::take(&mut run.net.lock().trace);
    let (ended, tally) = (run.now, run.judge.tally);
    // Tasks hold the network, and the network holds their wakers: a finished task must not be polled again.
    run.net.lock().close();
    run.processes.clear();
    let (hash, count) = (trace.hash(), trace.count());
    Ok(Outcome { seed, violation, ended, hash, count, tally, lines: trace.lines() })
}

impl Run {
    fn play(&mut self) -> std::io::Result<Result<(), String>> {
        let mut incidents = self.scenario.incidents.clone().into_iter().peekable();
        loop {
            while let Some((_, incident)) = incidents.next_if(|(at, _)| *at <= self.now) {
                self.strike(incident);
            }
            let now = self.now;
            for (_, incident) in self.ambushes.extract_if(.., |(at, _)| *at <= now).collect::<Vec<_>>() {
                self.strike(incident);
            }
            self.start_processes_that_are_due()?;
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
            if let Err(what) = self.judge() {
                return Ok(Err(what));
            }
            self.lie_in_wait();
            if self.over.is_some_and(|over| self.now > over + AFTERWARDS) {
                return Ok(Ok(()));
            }
        }
    }

    /// Decides whether to kill an agent of a match that was just assigned.
    fn lie_in_wait(&mut self) {
        let assigned = std::mem::take(&mut self.judge.assigned);
        for places in assigned.into_iter().filter(|_| self.now < self.scenario.quiet) {
            self.assigned += 1;
            let ambush = self.scenario.ambush(self.assigned, places);
            self.ambushes.extend(ambush.map(|(later, incident)| (self.now + later, incident)));
        }
    }

    /// Includes those that will be restarted.
    fn referees(&self) -> usize {
        let is_referee = |process: &&Process| matches!(self.scenario.role(process.place), Role::Referee(_));
        let is_coming = |process: &&Process| process.is_alive() || process.due.is_some();
        self.processes.iter().filter(is_referee).filter(is_coming).count()
    }

    fn strike(&mut self, incident: Incident) {
        let now = self.now;
        match incident {
            Incident::Kill { whom, away, silently, with_mail } => {
                let referees = self.referees();
                let process = &mut self.processes[whom.index()];
                if !process.is_alive() {
                    return;
                }
                // An agent that never comes back must have registered, and one referee must remain.
                let begun = self.judge.phase() != LeaguePhase::WaitingForRegistrations;
                let last = matches!(self.scenario.role(whom), Role::Referee(_)) && referees <= 1;
                let away = away.or((!begun || last).then_some(AGAIN));
                process.due = away.map(|away| now + away);
                let mut net = self.net.lock();
                net.trace.note(now, format_args!("{whom} is killed ({away:?}, silently: {silently})"));
                // It starts with the tick in which it is due.
                let until = process.due.map_or(SimTime::NEVER, |due| due + TICK);
                net.fault_log.note(Victim::Process(whom), now, until, Weight::Everything);
                net.crash(whom, silently, with_mail, now);
                self.judge.ended(whom, now, &mut net.fault_log);
                drop(net);
                if whom == ProcessId::MANAGER {
                    self.cast.disk.crash();
                }
                process.end();
            }
            Incident::Clock { whom, by } => {
                self.net.lock().trace.note(now, format_args!("the clock of {whom} jumps by {by} s"));
                if let Some(clock) = self.cast.clocks.get(whom.index()) {
                    clock.fetch_add(by * 1000, Ordering::Relaxed);
                }
            }
            Incident::Disk => {
                self.net.lock().trace.note(now, format_args!("the disk fails"));
                self.cast.disk.fail();
            }
        }
    }

    fn start_processes_that_are_due(&mut self) -> std::io::Result<()> {
        let now = self.now;
        for process in self.processes.iter_mut().filter(|process| process.due.is_some_and(|due| due <= now)) {
            let (cast, life, place) = (self.cast.clone(), process.lives, process.place);
            let mut net = self.net.lock();
            net.trace.note(now, format_args!("{place} starts as {:?}", self.scenario.role(place)));
            net.fault_log.started(place, now);
            drop(net);
            match self.scenario.role(place) {
                Role::Manager => process.start(&self.net, now, |connector| cast.manage(connector, life))?,
                Role::Referee(number) => {
                    process.start(&self.net, now, |connector| cast.officiate(connector, life, number))?;
                }
                Role::Player(number) => {
                    process.start(&self.net, now, |connector| cast.play(connector, life, number))?;
                }
            }
        }
        Ok(())
    }

    fn exited(&mut self, index: usize, exit: Exit) -> Result<(), String> {
        let process = &mut self.processes[index];
        let place = process.place;
        let mut net = self.net.lock();
        net.trace.note(self.now, format_args!("{place} ends: {exit:?}"));
        net.crash(place, false, false, self.now);
        self.judge.ended(place, self.now, &mut net.fault_log);
        drop(net);
        process.end();
        match exit {
            Exit::Done => Ok(()),
            Exit::TurnedAway(_) if self.judge.phase() == LeaguePhase::LeagueCompleted => Ok(()),
            Exit::TurnedAway(_) if self.judge.is_withdrawn(place) => Ok(()),
            Exit::TurnedAway(reason) => Err(format!("{place} was turned away: {reason}")),
            Exit::Failed(reason) if reason.contains("no space left") => {
                self.cast.disk.crash();
                process.due = Some(self.now + AGAIN);
                Ok(())
            }
            Exit::Failed(reason) => Err(format!("{place} failed: {reason}")),
        }
    }

    fn judge(&mut self) -> Result<(), String> {
        let (now, judge) = (self.now, &mut self.judge);
        let mut net = self.net.lock();
        let overheard = std::mem::take(&mut net.overheard);
        let Net { fault_log, trace, .. } = &mut *net;
        let grew = judge.read(now, &self.cast.disk, fault_log, trace)?;
        for heard in &overheard {
            judge.listen(heard, fault_log)?;
        }
        for signal in self.cast.signals() {
            match signal {
                Signal::Resumed(season, events) => judge.resumed(now, &season, events, &self.cast.disk)?,
                Signal::Season(season) if !grew => judge.compare(&season)?,
                Signal::Season(_) => {}
                Signal::Admitted(place) => fault_log.admitted(place, now),
                Signal::Concluded => {
                    trace.note(now, format_args!("the league is over"));
                    judge.concluded()?;
                    self.over.get_or_insert(now);
                }
            }
        }
        judge.check_bounds(now, fault_log)
    }
}
