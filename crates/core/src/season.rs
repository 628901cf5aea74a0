//! The league over time: its agents, its rounds, its standings.
//!
//! A season decides without changing: every command takes `&self` and returns the [`Event`]s that would follow, or the
//! [`RequestError`](league_protocol::error::RequestError) that refuses it. Only [`Season::apply`] changes a season. So a refused
//! command changes nothing, a restart is a replay, and any past moment is a shorter replay. The next action is derived from the state
//! ([`Season::duty`]) and never stored, so a crash loses none of it.
//!
//! - [`config`], [`agent`]: rules and participants
//! - [`format`]: who meets whom; [`standings`]: the table and its order
//! - `registration`, `flow`, `withdrawal`, `assignment`, `report`, `learning`: the commands
//! - [`event`], `apply`: what happened, and what it changes; [`describe`]: the same in words
//! - `query`: what agents, files and pages may ask

pub mod agent;
mod apply;
mod assignment;
pub mod config;
pub mod describe;
pub mod event;
mod flow;
pub mod format;
mod learning;
mod order;
mod query;
mod registration;
mod report;
mod schedule;
pub mod standings;
mod withdrawal;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use league_protocol::id::{MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::transcript::TranscriptDigest;
use league_protocol::time::Timestamp;

use agent::{PlayerCondition, RegisteredPlayer, RegisteredReferee};
use config::LeagueConfig;
use event::{Event, Fact};
use format::RoundPlan;
use standings::Table;

use crate::rules::outcome::Outcome;

pub use apply::BadEvent;
pub use assignment::Assignment;
pub use flow::{LeaguePhase, NextAction};
pub use registration::{Admission, Registered, Rejection, RejectionReason};
pub use report::ReportOutcome;
pub use schedule::Fixture;

/// What a command decides: events to make durable and apply, and the reply to send after that.
#[derive(Clone, Debug)]
pub struct CommandOutcome<T> {
    /// All of them or none: the last result and the end of its round are one step.
    pub events: Vec<Event>,
    pub reply: T,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Season {
    config: LeagueConfig,
    phase: LeaguePhase,
    halted: bool,
    /// In the order of registration; once the registration is closed, in the order of ids. A player's place is its index here.
    players: Vec<RegisteredPlayer>,
    player_index: HashMap<PlayerId, u32>,
    /// The lowest number that no player has or had. It only grows, so no player gets the id of a withdrawn one.
    free_player: u32,
    /// Players that were withdrawn before the first round and have not registered again: withdrawing one twice is no error.
    gone: HashSet<PlayerId>,
    referees: Vec<RegisteredReferee>,
    referee_index: HashMap<RefereeId, u32>,
    /// The lowest number that no referee has.
    free_referee: u32,
    table: Table,
    /// One entry for each round that has started.
    rounds: Vec<RoundState>,
    matches_completed: u32,
    /// How often the registration was opened again.
    reopened: u32,
    /// The most attempts at a match of a first round that a reopened registration cancelled. Later attempts have higher numbers, so
    /// a late report of a cancelled one does not count.
    abandoned: u32,
    /// Transcripts that follow their report: the attempt, and the digest that the transcript must have.
    transcripts: HashMap<MatchId, (u32, TranscriptDigest)>,
}

/// A round that has started.
#[derive(Clone, PartialEq, Debug)]
pub struct RoundState {
    plan: RoundPlan,
    /// The number of each player's match, by the player's place; 0 where it has none.
    numbers: Vec<u32>,
    slots: Vec<MatchSlot>,
    open: u32,
    completed: bool,
}

impl RoundState {
    /// Who meets whom.
    pub fn plan(&self) -> &RoundPlan {
        &self.plan
    }

    /// How each match ended, in the order of the pairings; none where it has not.
    pub fn outcomes(&self) -> impl Iterator<Item = Option<Outcome>> {
        self.slots.iter().map(MatchSlot::outcome)
    }
}

/// A match, reduced to what a running league needs: its event has the whole record. A league of 1,000 players has half a million.
#[derive(Clone, PartialEq, Debug)]
enum MatchSlot {
    Waiting {
        /// How many attempts have been made.
        attempts: u32,
        /// The referee that did not take it last: others are asked first.
        refused_by: Option<u32>,
    },
    Held {
        attempt: u32,
        /// By its place in the list.
        referee: u32,
    },
    /// Decided without being played.
    Awarded { outcome: Outcome },
    Done {
        /// By its place in the list.
        referee: u32,
        outcome: Outcome,
        /// Tells the same report from a different one. Computed again at every replay and never stored.
        report_hash: u64,
        /// When it was counted, in seconds since 1970.
        at: i64,
    },
}

impl MatchSlot {
    /// The number of the next attempt, where no referee has the match.
    fn next_attempt(&self) -> Option<u32> {
        match self {
            Self::Waiting { attempts, .. } => attempts.checked_add(1),
            Self::Held { .. } | Self::Awarded { .. } | Self::Done { .. } => None,
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Awarded { outcome } | Self::Done { outcome, .. } => Some(*outcome),
            Self::Waiting { .. } | Self::Held { .. } => None,
        }
    }

    /// As the protocol writes it.
    fn status(&self) -> &'static str {
        match self {
            Self::Waiting { .. } => PENDING,
            Self::Held { .. } => "IN_PROGRESS",
            Self::Awarded { .. } | Self::Done { .. } => "COMPLETED",
        }
    }
}

/// The status of a match that no referee has.
const PENDING: &str = "PENDING";

impl Season {
    /// A league with these rules, and the event that opens it.
    pub fn open(config: LeagueConfig, now: Timestamp) -> (Self, Event) {
        let event = Event { at: whole(now), fact: Fact::Opened { config: Box::new(config.clone()) } };
        (Self::empty(config), event)
    }

    fn empty(config: LeagueConfig) -> Self {
        let table = Table::new(0, config.scoring.clone());
        Self {
            config,
            phase: LeaguePhase::WaitingForRegistrations,
            halted: false,
            players: Vec::new(),
            player_index: HashMap::new(),
            free_player: 1,
            gone: HashSet::new(),
            referees: Vec::new(),
            referee_index: HashMap::new(),
            free_referee: 1,
            table,
            rounds: Vec::new(),
            matches_completed: 0,
            reopened: 0,
            abandoned: 0,
            transcripts: HashMap::new(),
        }
    }

    pub fn config(&self) -> &LeagueConfig {
        &self.config
    }

    pub fn phase(&self) -> LeaguePhase {
        self.phase
    }

    /// Whether the operator has stopped it.
    pub fn is_halted(&self) -> bool {
        self.halted
    }

    /// All players: in the order of registration, and in the order of ids once the registration is closed.
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

    /// Whether a player is suspended: asked once instead of three times, until it plays a match again.
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

    /// Whether the registration has been opened again: then the expected numbers of agents no longer count.
    pub fn was_reopened(&self) -> bool {
        self.reopened > 0
    }

    /// The standings by the players' places.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The round that is being played, or was last; none before the first.
    pub fn current_round(&self) -> Option<RoundId> {
        u32::try_from(self.rounds.len()).ok().filter(|round| *round > 0).map(RoundId)
    }

    /// The same as a number that is always there: 0 before the first round.
    pub fn round_number(&self) -> RoundId {
        self.current_round().unwrap_or(RoundId(0))
    }

    /// The last round of which every result is in.
    pub fn last_completed(&self) -> Option<RoundId> {
        let completed = self.rounds.iter().rposition(|round| round.completed)?;
        u32::try_from(completed).ok().map(|index| RoundId(index + 1))
    }

    /// How many rounds have all their results, also before the event that ends the last of them.
    pub fn rounds_completed(&self) -> u32 {
        let open = self.rounds.last().is_some_and(|round| round.open > 0);
        self.round_number().0 - u32::from(open)
    }

    pub fn matches_completed(&self) -> u32 {
        self.matches_completed
    }

    /// How a match ended, once it has.
    pub fn outcome(&self, match_id: &MatchId) -> Option<Outcome> {
        self.slot(match_id)?.outcome()
    }

    /// A round that has started.
    fn round(&self, round: RoundId) -> Option<&RoundState> {
        self.rounds.get((round.0 as usize).checked_sub(1)?)
    }

    fn slot(&self, match_id: &MatchId) -> Option<&MatchSlot> {
        let (round, number) = match_id.parts()?;
        self.round(round)?.slots.get((number as usize).checked_sub(1)?)
    }

    fn slot_mut(&mut self, match_id: &MatchId) -> Option<&mut MatchSlot> {
        let (round, number) = match_id.parts()?;
        let round = self.rounds.get_mut((round.0 as usize).checked_sub(1)?)?;
        round.slots.get_mut((number as usize).checked_sub(1)?)
    }
}

/// `now` in whole seconds, as a log keeps it.
fn whole(now: Timestamp) -> Timestamp {
    Timestamp::from_unix(now.unix())
}

fn happened(now: Timestamp, fact: Fact) -> Event {
    Event { at: whole(now), fact }
}
