//! The invariants of every run, checked throughout and not only at its end.
//!
//! The checker trusts no agent. It folds the durable log itself, reads the manager's messages, and asks the fault log
//! before it accepts a player's technical loss.

mod matches;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use league_core::record::MatchRecord;
use league_core::rules::outcome::Outcome;
use league_core::season::event::{Event, Fact};
use league_core::season::evidence::ReturnCause;
use league_core::season::{LeaguePhase, Season};
use league_protocol::id::{MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::operate::DisputeDecision;
use league_protocol::side::Side;
use league_protocol::token::{Token, TokenDigest};
use league_store::log::{EventLog, LogHead};

use crate::bounds::Bounds;
use crate::disk::Disk;
use crate::fault_log::FaultLog;
use crate::net::ObservedMessage;
use crate::process_id::ProcessId;
use crate::scenario::Scenario;
use crate::sim_time::SimTime;
use crate::trace::Trace;
use matches::RunningMatches;
use table::Table;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    pub at: SimTime,
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", self.at.to_string().trim(), self.what)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    pub results: u64,
    pub charged: u64,
    /// Matches that were decided without play.
    pub awarded: u64,
    pub in_vain: u64,
    pub resumed: u64,
    /// Reports that did not count, except those of suspended matches.
    pub contested: u64,
    pub alerts: u64,
    /// Matches that waited for the operator.
    pub suspended: u64,
    /// Faults that hit the one of two managers that led.
    pub leader_faults: u64,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    attempt: u32,
    referee: ProcessId,
    since: SimTime,
}

#[derive(Debug)]
pub struct InvariantChecker {
    scenario: Arc<Scenario>,
    bounds: Bounds,
    head: LogHead,
    season: Option<Season>,
    results: BTreeMap<MatchId, ProcessId>,
    registered: BTreeSet<PlayerId>,
    withdrawn: BTreeSet<ProcessId>,
    tokens: BTreeMap<ProcessId, TokenDigest>,
    table: Table,
    open: BTreeMap<MatchId, Open>,
    /// Attempts that were reported and wait for the operator.
    /// Matches that wait for the operator, and whether they were reported.
    suspended: BTreeMap<MatchId, (Open, bool)>,
    running: RunningMatches,
    round: Option<(RoundId, SimTime)>,
    manager_since: SimTime,
    pub tally: Tally,
    pub events: Vec<Event>,
    /// The referee and the players of each match that was assigned since the last read.
    pub assigned: Vec<[ProcessId; 3]>,
}

/// The error describes the violation.
type Verdict = Result<(), String>;

impl InvariantChecker {
    pub fn new(scenario: Arc<Scenario>) -> Self {
        let bounds = Bounds::of(&scenario);
        Self {
            scenario,
            bounds,
            head: LogHead::GENESIS,
            season: None,
            results: BTreeMap::new(),
            registered: BTreeSet::new(),
            withdrawn: BTreeSet::new(),
            tokens: BTreeMap::new(),
            table: Table::default(),
            open: BTreeMap::new(),
            suspended: BTreeMap::new(),
            running: RunningMatches::new(bounds.match_machine),
            round: None,
            manager_since: SimTime::BEGIN,
            tally: Tally::default(),
            events: Vec::new(),
            assigned: Vec::new(),
        }
    }

    pub fn is_withdrawn(&self, process: ProcessId) -> bool {
        self.withdrawn.contains(&process)
    }

    pub fn season(&self) -> Option<&Season> {
        self.season.as_ref()
    }

    /// The number of durable events.
    pub fn durable(&self) -> u64 {
        self.head.seq
    }

    pub fn deadline(&self) -> SimTime {
        self.scenario.quiet + self.bounds.league
    }

    /// As far as it is durable.
    pub fn phase(&self) -> LeaguePhase {
        self.season.as_ref().map_or(LeaguePhase::WaitingForRegistrations, Season::phase)
    }

    /// Reads the new events of the log; returns whether there were any.
    pub fn read(
        &mut self,
        at: SimTime,
        disk: &Disk,
        fault_log: &mut FaultLog,
        trace: &mut Trace,
    ) -> Result<bool, String> {
        let events = disk.reader().read(self.head.seq, usize::MAX).map_err(|error| error.to_string())?;
        for (head, event) in &events {
            let body = serde_json::to_string(event).map_err(|error| error.to_string())?;
            trace.note(at, format_args!("durable: {body}"));
            self.head = self.head.then(&body);
            if self.head != *head {
                return Err(format!("the chain of the log does not hold: {} instead of {}", head, self.head));
            }
            self.apply(at, event, fault_log)?;
            self.events.push(event.clone());
        }
        Ok(!events.is_empty())
    }

    fn apply(&mut self, at: SimTime, event: &Event, fault_log: &mut FaultLog) -> Verdict {
        if let Fact::MatchReported { match_id, attempt, record, .. } = &event.fact {
            self.reported(at, match_id, *attempt, record, fault_log)?;
        }
        match &mut self.season {
            Some(season) => season.apply(event).map_err(|bad| format!("the log cannot be right: {bad}"))?,
            None => self.season = Some(Season::replay([event]).map_err(|bad| bad.to_string())?),
        }
        let fact = &event.fact;
        if let Fact::MatchAssigned { match_id, attempt, referee, .. } = fact {
            let open = Open { attempt: *attempt, referee: self.referee(referee)?, since: at };
            self.open.insert(match_id.clone(), open);
            if let Some(players) = self.season.as_ref().and_then(|season| season.contestants(match_id)) {
                self.assigned.push([open.referee, self.player(&players.a.id)?, self.player(&players.b.id)?]);
            }
        } else if let Fact::MatchReturned { match_id, cause, .. } = fact {
            self.open.remove(match_id);
            self.tally.in_vain += 1;
            self.tally.contested += u64::from(*cause == ReturnCause::Contested);
        } else if let Fact::MatchSuspended { match_id, report, .. } = fact {
            let open = self.open.remove(match_id).map(|open| (match_id.clone(), (open, report.is_some())));
            self.suspended.extend(open);
            self.tally.suspended += 1;
        } else if let Fact::DisputeResolved { match_id, decision } = fact {
            // A rejected dispute lets the reported result count, with the next event.
            let decided = self.suspended.remove(match_id);
            let counts = decided.filter(|(_, is_reported)| *is_reported && *decision == DisputeDecision::Reject);
            self.open.extend(counts.map(|(open, _)| (match_id.clone(), open)));
        } else if let Fact::AlertRaised { .. } = fact {
            self.tally.alerts += 1;
        } else if let Fact::RefereeLost { referee }
        | Fact::RefereeLeft { referee }
        | Fact::RefereeReturned { referee, .. }
        | Fact::RefereeWithdrawn { referee } = fact
        {
            let process = self.referee(referee)?;
            let before = self.open.len();
            self.open.retain(|_, open| open.referee != process);
            self.tally.in_vain += (before - self.open.len()) as u64;
        } else if let Fact::MatchReported { match_id, .. } = fact {
            self.open.remove(match_id);
            self.compare_standings()?;
        } else if let Fact::PlayerWithdrawn { player } = fact {
            let process = self.player(player)?;
            self.withdrawn.insert(process);
        } else if let Fact::MatchAwarded { match_id, outcome } = fact {
            // No referee reports it. `apply` checks that it is due.
            self.awarded(match_id, *outcome)?;
        } else if let Fact::RoundStarted { round, .. } = fact {
            self.round = Some((*round, at));
        } else if let Fact::RoundCompleted { round } = fact {
            self.round_over(at, *round)?;
        } else if let Fact::PlayerRegistered { player, .. } = fact {
            self.registered.insert(player.clone());
        } else if let Fact::PlayerReturned { player, .. } = fact {
            self.compare_tokens(at, player, fault_log)?;
        }
        Ok(())
    }

    fn reported(
        &mut self,
        at: SimTime,
        id: &MatchId,
        attempt: u32,
        record: &MatchRecord,
        fault_log: &FaultLog,
    ) -> Verdict {
        // A referee that was cut off may still report the match that waits.
        let waits = self.suspended.get(id).filter(|(_, is_reported)| !is_reported).map(|(open, _)| open);
        let open = self.open.get(id).or(waits).copied().filter(|open| open.attempt == attempt);
        let open = open.ok_or_else(|| format!("attempt {attempt} at {id} has a result and was not under way"))?;
        if !self.running.was_reported(open.referee, id, attempt) {
            return Err(format!("attempt {attempt} at {id} has a result that {} did not report", open.referee));
        }
        if self.results.insert(id.clone(), open.referee).is_some() {
            return Err(format!("{id} has two results"));
        }
        self.tally.results += 1;
        let Some(season) = &self.season else { return Err(String::from("a result before the league was opened")) };
        let players = season.contestants(id).ok_or_else(|| format!("{id} is no match of this league"))?;
        for side in Side::BOTH {
            let player = players[side];
            if record.outcome.forfeited(side) {
                self.tally.charged += 1;
                let (number, process) = (player.id.number().unwrap_or_default(), self.player(&player.id)?);
                let limits = &self.scenario.rules.limits;
                let calls = if season.is_suspended(player) { 1 } else { usize::from(limits.max_retries) };
                let excused = fault_log.excuses(process, open.referee, calls, (open.since, at));
                if self.scenario.plays_fair(number) && !excused {
                    return Err(format!("{} was charged in {id} for a fault that was not its own", player.id));
                }
            }
        }
        self.table.count(players.map(|player| &player.id), record.outcome);
        Ok(())
    }

    fn awarded(&mut self, id: &MatchId, outcome: Outcome) -> Verdict {
        if self.open.contains_key(id) || self.results.insert(id.clone(), ProcessId::MANAGER).is_some() {
            return Err(format!("{id} was decided without being played, although it is assigned or has a result"));
        }
        let players = self.season.as_ref().and_then(|season| season.contestants(id));
        let players = players.ok_or_else(|| format!("{id} is no match of this league"))?;
        self.table.count(players.map(|player| &player.id), outcome);
        self.tally.awarded += 1;
        self.compare_standings()
    }

    fn compare_standings(&self) -> Verdict {
        let Some(season) = &self.season else { return Ok(()) };
        self.table.compare(&season.standings())
    }

    fn round_over(&mut self, at: SimTime, round: RoundId) -> Verdict {
        match self.round.take() {
            Some((begun, since)) if begun == round => {
                self.count_byes(round);
                let disturbed = since < self.scenario.quiet;
                if !disturbed && at - since > self.bounds.round {
                    return Err(format!("round {round} took {:?}, more than {:?}", at - since, self.bounds.round));
                }
                Ok(())
            }
            Some(_) | None => Err(format!("round {round} is over and had not begun")),
        }
    }

    fn count_byes(&mut self, round: RoundId) {
        let Some(season) = self.season.as_ref().filter(|season| season.config().format.scores_byes()) else { return };
        for place in season.plan(round).iter().flat_map(|plan| &plan.byes) {
            if let Some(player) = season.players().get(*place as usize) {
                self.table.count_bye(&player.id);
            }
        }
    }

    fn referee(&self, id: &RefereeId) -> Result<ProcessId, String> {
        id.number().and_then(|number| self.scenario.referee(number)).ok_or_else(|| format!("{id} is unknown"))
    }

    fn player(&self, id: &PlayerId) -> Result<ProcessId, String> {
        id.number().and_then(|number| self.scenario.player(number)).ok_or_else(|| format!("{id} is unknown"))
    }

    fn compare_tokens(&self, at: SimTime, id: &PlayerId, fault_log: &mut FaultLog) -> Verdict {
        let process = self.player(id)?;
        let known = self.season.as_ref().and_then(|season| season.player(id)).map(|player| &player.grant.digest);
        if let (Some(known), Some(own)) = (known, self.tokens.get(&process)) {
            fault_log.compare_tokens(process, known == own, at);
        }
        Ok(())
    }

    /// The manager's season must follow from the events in its log.
    pub fn resumed(&mut self, at: SimTime, season: &Season, events: u64, disk: &Disk) -> Verdict {
        self.manager_since = at;
        self.tally.resumed += 1;
        let found = disk.reader().read(0, usize::try_from(events).unwrap_or(usize::MAX)).unwrap_or_default();
        if found.len() as u64 != events {
            return Err(String::from("the manager found more in its log than is durable"));
        }
        match Season::replay(found.iter().map(|(_, event)| event)) {
            Ok(replayed) if replayed == *season => Ok(()),
            Ok(_) => Err(String::from("the resumed season is not the replayed one")),
            Err(bad) => Err(format!("the log cannot be replayed: {bad}")),
        }
    }

    /// Compares the season in the manager's memory, while no write is pending.
    pub fn compare(&self, season: &Season) -> Verdict {
        match &self.season {
            Some(replayed) if replayed != season => Err(String::from("the manager's season is not that of its log")),
            Some(_) | None => Ok(()),
        }
    }

    pub fn ended(&mut self, process: ProcessId, at: SimTime, fault_log: &mut FaultLog) {
        // A stopped process has no token that could differ.
        fault_log.compare_tokens(process, true, at);
        self.running.forget(process);
        self.tokens.remove(&process);
    }

    pub fn observe(&mut self, message: &ObservedMessage, fault_log: &mut FaultLog) -> Verdict {
        self.running.observe(message);
        if message.is_request || !message.arrived || !message.from.is_manager() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&message.bytes);
        if !text.contains("\"ACCEPTED\"") {
            return Ok(());
        }
        if text.contains("\"MATCH_RESULT_ACK\"")
            && let Some(id) = field(&text, "match_id").and_then(|id| id.parse::<MatchId>().ok())
            && self.results.get(&id) != Some(&message.to)
        {
            return Err(format!("the result of {id} was acknowledged to {} and is not in the log", message.to));
        }
        if text.contains("\"LEAGUE_REGISTER_RESPONSE\"")
            && let Some(id) = field(&text, "player_id").and_then(|id| id.parse::<PlayerId>().ok())
        {
            if !self.registered.contains(&id) {
                return Err(format!("{id} was let in and is not in the log"));
            }
            let token = field(&text, "auth_token").map(|token| Token::received(token).digest());
            self.tokens.extend(token.map(|token| (message.to, token)));
            self.compare_tokens(message.at, &id, fault_log)?;
        }
        Ok(())
    }

    pub fn check_bounds(&self, at: SimTime, fault_log: &FaultLog) -> Verdict {
        let hostility = &self.scenario.hostility;
        self.running.check(at, fault_log, |referee| hostility.is_hostile_referee(referee))?;
        for (id, open) in &self.open {
            let span = at - open.since.max(self.manager_since);
            if span > self.bounds.attempt {
                return Err(format!("attempt {} at {id} is open for {span:?}", open.attempt));
            }
        }
        let since_when = |from: SimTime| from.max(self.manager_since).max(self.scenario.quiet);
        let mismatches = fault_log.token_mismatches().filter(|_| self.phase() == LeaguePhase::RunningLeague);
        // A withdrawn player may have another token.
        let mismatches = mismatches.filter(|(process, _)| !self.withdrawn.contains(process));
        if let Some((process, from)) =
            mismatches.into_iter().find(|(_, from)| at - since_when(*from) > self.bounds.mended)
        {
            return Err(format!("{process} and the manager have not agreed about a token since {from}"));
        }
        if at > self.deadline() {
            let phase = self.phase().as_str();
            return Err(format!("the league is stuck in {phase}, {:?} after the last fault", at - self.scenario.quiet));
        }
        Ok(())
    }

    pub fn concluded(&self) -> Verdict {
        let Some(season) = &self.season else { return Err(String::from("a league ended that was never opened")) };
        let all = season.total_matches() as usize;
        if season.phase() != LeaguePhase::LeagueCompleted || self.results.len() != all {
            return Err(format!("the league ended with {} of {all} results", self.results.len()));
        }
        Ok(())
    }
}

/// Finds the field at any depth.
pub(crate) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("\"{name}\":\""))?;
    rest.split_once('"').map(|(value, _)| value)
}
