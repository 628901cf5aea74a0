//! The state of one league: agents, rounds, results, standings.
//!
//! A command takes `&self` and returns the [`Event`]s that would follow, or a
//! [`RequestError`](league_protocol::error::RequestError). Only [`Season::apply`] changes a season. So a refused command changes
//! nothing, a restart is a replay, and a shorter replay gives any past state. The next action is derived from the state and never
//! stored, so a crash cannot lose it.
//!
//! - [`config`], [`agent`], [`identity`]: rules and participants
//! - [`mod@format`]: pairings; [`lots`]: decisions between equals; [`standings`]: the table and its order
//! - `registration`, `flow`, `withdrawal`, `assignment`, `report`, `learning`: the commands
//! - [`evidence`]: what keeps a referee from lying
//! - [`event`], `apply`: facts and their effect; [`describe`]: events in words
//! - `query`: answers for agents, files and pages

pub mod agent;
mod apply;
mod assignment;
pub mod config;
pub mod describe;
mod dispute;
pub mod event;
pub mod evidence;
mod flow;
pub mod format;
pub mod identity;
mod learning;
pub mod lots;
mod order;
mod query;
mod registration;
mod report;
mod schedule;
pub mod standings;
mod withdrawal;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use league_protocol::id::{MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::transcript::TranscriptDigest;
use league_protocol::time::Timestamp;
use smol_str::SmolStr;

use agent::{PlayerCondition, RegisteredPlayer, RegisteredReferee};
use config::LeagueConfig;
use event::{Event, Fact};
use evidence::{AssignedDraw, ContestedReport, MatchEvidence};
use format::RoundPlan;
use lots::{Lot, Results};
use standings::Table;

use crate::rules::outcome::Outcome;

pub use apply::BadEvent;
pub use assignment::{Assignment, DrawSource, Exceptions};
pub use flow::{LeaguePhase, NextAction};
pub use registration::{Admission, Registered, Rejection, RejectionReason};
pub use report::{ReportOutcome, TranscriptDue};
pub use schedule::Fixture;

/// The caller makes the events durable, applies them, and then sends the reply.
#[derive(Clone, Debug)]
pub struct CommandOutcome<T> {
    /// The log appends all of them or none: the last result and the end of its round are one step.
    pub events: Vec<Event>,
    pub reply: T,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Season {
    config: LeagueConfig,
    phase: LeaguePhase,
    halted: bool,
    /// In the order of registration, and by id once the registration is closed. Players that register later have higher ids. A
    /// player's place is its index here.
    players: Vec<RegisteredPlayer>,
    player_index: HashMap<PlayerId, u32>,
    /// Places by the names and addresses of identities.
    player_names: HashMap<SmolStr, u32>,
    player_addresses: HashMap<SmolStr, u32>,
    /// The lowest number that no player has or had. It only grows, so no player gets the id of a withdrawn one.
    free_player: u32,
    /// Players withdrawn before the first round that have not registered again. Withdrawing one twice is no error.
    withdrawn_early: HashSet<PlayerId>,
    referees: Vec<RegisteredReferee>,
    referee_index: HashMap<RefereeId, u32>,
    free_referee: u32,
    table: Table,
    /// Shared between copies of the season: a league of 1,000 players has half a million matches.
    rounds: Vec<Arc<RoundState>>,
    matches_completed: u32,
    lots: Vec<Lot>,
    /// Kept only if the format draws lots.
    lot_results: Results,
    reopened: u32,
    /// The most attempts at a match of a first round that a reopened registration cancelled. Later attempts have higher numbers,
    /// so a late report of a cancelled one does not count.
    abandoned: u32,
    /// Transcripts that the manager still expects: the attempt, and the digest that the transcript must have.
    transcripts: HashMap<MatchId, (u32, TranscriptDigest)>,
    /// Only matches with alerts, deposits or attempts that did not count.
    evidence: BTreeMap<MatchId, MatchEvidence>,
    /// The number of events applied, the first one included.
    events: u64,
    /// The time of the last event.
    updated: Timestamp,
}

#[derive(Clone, PartialEq, Debug)]
pub struct RoundState {
    plan: RoundPlan,
    /// The match number of each player, by the player's place; 0 without a match.
    numbers: Vec<u32>,
    slots: Vec<MatchSlot>,
    open: u32,
    completed: bool,
}

impl RoundState {
    pub fn plan(&self) -> &RoundPlan {
        &self.plan
    }

    pub fn outcomes(&self) -> impl Iterator<Item = Option<Outcome>> {
        self.slots.iter().map(MatchSlot::outcome)
    }
}

/// Holds only what a running league needs; the event holds the whole record.
#[derive(Clone, PartialEq, Debug)]
enum MatchSlot {
    Waiting {
        attempts: u32,
        /// The referee that refused it last. The manager asks other referees first.
        refused_by: Option<u32>,
    },
    Held {
        attempt: u32,
        /// Index in the list of referees.
        referee: u32,
        draw: Option<Box<AssignedDraw>>,
    },
    /// Waits for the operator's decision.
    Suspended {
        attempt: u32,
        /// Index in the list of referees.
        referee: u32,
        draw: Option<Box<AssignedDraw>>,
        report: Option<Box<ContestedReport>>,
    },
    /// Decided without being played.
    Awarded { outcome: Outcome },
    Done {
        /// Index in the list of referees.
        referee: u32,
        outcome: Outcome,
        /// Tells a repeated report from a different one. Replay computes it again; it is never stored.
        report_hash: u64,
        /// Seconds since 1970.
        at: i64,
    },
}

impl MatchSlot {
    /// `None` while a referee holds the match, or once it is decided.
    fn next_attempt(&self) -> Option<u32> {
        match self {
            Self::Waiting { attempts, .. } => attempts.checked_add(1),
            Self::Held { .. } | Self::Suspended { .. } | Self::Awarded { .. } | Self::Done { .. } => None,
        }
    }

    /// The attempt and the referee whose report counts. A match that waits because its referee had left still takes the report of that
    /// referee: it may only have been cut off.
    fn reportable(&self) -> Option<(u32, u32, Option<&AssignedDraw>)> {
        match self {
            Self::Held { attempt, referee, draw } | Self::Suspended { attempt, referee, draw, report: None } => {
                Some((*attempt, *referee, draw.as_deref()))
            }
            Self::Suspended { report: Some(_), .. }
            | Self::Waiting { .. }
            | Self::Awarded { .. }
            | Self::Done { .. } => None,
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Awarded { outcome } | Self::Done { outcome, .. } => Some(*outcome),
            Self::Waiting { .. } | Self::Held { .. } | Self::Suspended { .. } => None,
        }
    }

    fn status(&self) -> &'static str {
        match self {
            Self::Waiting { .. } => PENDING,
            Self::Held { .. } | Self::Suspended { .. } => "IN_PROGRESS",
            Self::Awarded { .. } | Self::Done { .. } => "COMPLETED",
        }
    }
}

const PENDING: &str = "PENDING";

impl Season {
    pub fn open(config: LeagueConfig, now: Timestamp) -> (Self, Event) {
        let event = Event { at: whole(now), fact: Fact::Opened { config: Box::new(config.clone()) } };
        (Self::empty(config, event.at), event)
    }

    fn empty(config: LeagueConfig, at: Timestamp) -> Self {
        let table = Table::new(0, config.scoring.clone());
        Self {
            config,
            phase: LeaguePhase::WaitingForRegistrations,
            halted: false,
            players: Vec::new(),
            player_index: HashMap::new(),
            player_names: HashMap::new(),
            player_addresses: HashMap::new(),
            free_player: 1,
            withdrawn_early: HashSet::new(),
            referees: Vec::new(),
            referee_index: HashMap::new(),
            free_referee: 1,
            table,
            rounds: Vec::new(),
            matches_completed: 0,
            lots: Vec::new(),
            lot_results: Results::default(),
            reopened: 0,
            abandoned: 0,
            transcripts: HashMap::new(),
            evidence: BTreeMap::new(),
            events: 1,
            updated: at,
        }
    }

    /// The number of the last event, which names this state of the season.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The time of the last event.
    pub fn updated(&self) -> Timestamp {
        self.updated
    }

    pub fn config(&self) -> &LeagueConfig {
        &self.config
    }

    pub fn phase(&self) -> LeaguePhase {
        self.phase
    }

    pub fn is_halted(&self) -> bool {
        self.halted
    }

    pub fn players(&self) -> &[RegisteredPlayer] {
        &self.players
    }

    pub fn referees(&self) -> &[RegisteredReferee] {
        &self.referees
    }

    pub fn player(&self, id: &PlayerId) -> Option<&RegisteredPlayer> {
        self.player_index.get(id).and_then(|place| self.players.get(*place as usize))
    }

    pub fn referee(&self, id: &RefereeId) -> Option<&RegisteredReferee> {
        self.referee_index.get(id).and_then(|place| self.referees.get(*place as usize))
    }

    /// The referee asks a suspended player once instead of three times, until the player plays a match again.
    pub fn is_suspended(&self, player: &RegisteredPlayer) -> bool {
        self.config.suspend_after > 0 && player.forfeits_running >= self.config.suspend_after
    }

    pub fn condition(&self, player: &RegisteredPlayer) -> PlayerCondition {
        match player.withdrawn {
            true => PlayerCondition::Withdrawn,
            false if self.is_suspended(player) => PlayerCondition::Suspended,
            false => PlayerCondition::Active,
        }
    }

    /// After a reopening the expected numbers of agents no longer count.
    pub fn was_reopened(&self) -> bool {
        self.reopened > 0
    }

    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The current or last round; `None` before the first.
    pub fn current_round(&self) -> Option<RoundId> {
        u32::try_from(self.rounds.len()).ok().filter(|round| *round > 0).map(RoundId)
    }

    /// 0 before the first round.
    pub fn round_number(&self) -> RoundId {
        self.current_round().unwrap_or(RoundId(0))
    }

    pub fn last_completed(&self) -> Option<RoundId> {
        let completed = self.rounds.iter().rposition(|round| round.completed)?;
        u32::try_from(completed).ok().map(|index| RoundId(index + 1))
    }

    /// Counts a round with all its results also before the event that ends it.
    pub fn rounds_completed(&self) -> u32 {
        let open = self.rounds.last().is_some_and(|round| round.open > 0);
        self.round_number().0 - u32::from(open)
    }

    pub fn matches_completed(&self) -> u32 {
        self.matches_completed
    }

    pub fn outcome(&self, match_id: &MatchId) -> Option<Outcome> {
        self.slot(match_id)?.outcome()
    }

    fn round(&self, round: RoundId) -> Option<&RoundState> {
        self.rounds.get((round.0 as usize).checked_sub(1)?).map(Arc::as_ref)
    }

    fn last_round_mut(&mut self) -> Option<&mut RoundState> {
        self.rounds.last_mut().map(Arc::make_mut)
    }

    fn slot(&self, match_id: &MatchId) -> Option<&MatchSlot> {
        let (round, number) = match_id.parts()?;
        self.round(round)?.slots.get((number as usize).checked_sub(1)?)
    }

    fn slot_mut(&mut self, match_id: &MatchId) -> Option<&mut MatchSlot> {
        let (round, number) = match_id.parts()?;
        let round = self.rounds.get_mut((round.0 as usize).checked_sub(1)?)?;
        Arc::make_mut(round).slots.get_mut((number as usize).checked_sub(1)?)
    }
}

/// The log stores whole seconds.
fn whole(now: Timestamp) -> Timestamp {
    Timestamp::from_unix(now.unix())
}

fn happened(now: Timestamp, fact: Fact) -> Event {
    Event { at: whole(now), fact }
}
