//! The league over time: who takes part, who meets whom, who has won.
//!
//! A season decides without changing: every command takes `&self` and gives the [`Event`]s that would follow, or the
//! [`ForfeitReason`](league_protocol::error::Fault) that keeps it from happening. [`Season::apply`] is the only thing that changes
//! it. So a refused command changes nothing, a restart is a replay, and any past moment is a shorter replay. What is to be
//! done next is never remembered but always derived ([`Season::duty`]): after a crash it is simply derived again.
//!
//! - [`config`], [`agent`]: rules and participants
//! - [`schedule`], [`standings`]: the arithmetic of a round robin
//! - `registration`, `flow`, `withdrawal`, `assignment`, `report`, `learning`: the commands
//! - [`event`], `apply`: what happened, and what it means
//! - `query`: what may be asked

pub mod agent;
mod apply;
mod assignment;
pub mod config;
pub mod event;
mod flow;
mod learning;
mod order;
mod query;
mod registration;
mod report;
pub mod schedule;
pub mod standings;
mod withdrawal;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use league_protocol::id::{MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::transcript::TranscriptDigest;
use league_protocol::side::{Pair, Side};
use league_protocol::time::Timestamp;

use agent::{PlayerCondition, RegisteredPlayer, RegisteredReferee};
use config::LeagueConfig;
use event::{Event, Fact};
use schedule::Schedule;
use standings::Table;

use crate::rules::outcome::Outcome;

pub use apply::BadEvent;
pub use assignment::Assignment;
pub use flow::{LeaguePhase, NextAction};
pub use registration::{Admission, Registered, Rejection, RejectionReason};
pub use report::ReportOutcome;

/// What a command comes to: what happened, to be made durable and applied, and what to answer then.
#[derive(Clone, Debug)]
pub struct CommandOutcome<T> {
    /// What happened: all of it or nothing, since the last result and the end of its round are one step.
    pub events: Vec<Event>,
    pub reply: T,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Season {
    config: LeagueConfig,
    phase: LeaguePhase,
    halted: bool,
    /// In the order of registration; from the schedule on, in the order of ids, which is the order of the schedule.
    players: Vec<RegisteredPlayer>,
    player_index: HashMap<PlayerId, u32>,
    /// The lowest number that no player has or had: it only grows, so nobody is taken for somebody who was withdrawn.
    free_player: u32,
    /// Who was withdrawn before the first round and has not come back: to withdraw it once more is no mistake.
    gone: HashSet<PlayerId>,
    referees: Vec<RegisteredReferee>,
    referee_index: HashMap<RefereeId, u32>,
    /// The lowest number that no referee has: it only grows, since nobody leaves.
    free_referee: u32,
    schedule: Schedule,
    table: Table,
    /// One entry for each round that has begun.
    rounds: Vec<RoundState>,
    matches_completed: u32,
    /// How often the registration was opened again.
    reopened: u32,
    /// The most attempts at a match of a first round that was given up when the registration was opened again. What its referees
    /// still report is of such an attempt, and counts for nothing.
    abandoned: u32,
    /// Transcripts that follow their report: the attempt, and the digest that the transcript must have.
    transcripts: HashMap<MatchId, (u32, TranscriptDigest)>,
}

#[derive(Clone, PartialEq, Debug)]
struct RoundState {
    slots: Vec<MatchSlot>,
    open: u32,
    completed: bool,
}

/// A match, reduced to what a running league needs to know of it: the whole record is in its event.
#[derive(Clone, PartialEq, Debug)]
enum MatchSlot {
    Waiting {
        /// How many attempts have been made.
        attempts: u32,
        /// Who did not take it when it was offered last: others are asked first.
        refused_by: Option<u32>,
    },
    Held {
        attempt: u32,
        /// By its place in the list.
        referee: u32,
    },
    /// It was decided without being played.
    Awarded { outcome: Outcome },
    Done {
        /// By its place in the list.
        referee: u32,
        outcome: Outcome,
        /// Tells an equal report from a different one. Never stored, so it may change with the compiler.
        fingerprint: u32,
        /// When it was counted, in seconds since 1970.
        at: u32,
    },
}

// A league of a thousand has half a million of them.
const _: () = assert!(size_of::<MatchSlot>() == 16);

impl MatchSlot {
    /// The attempt that would be the next, where nobody has it.
    fn next_attempt(&self) -> Option<u32> {
        match self {
            Self::Waiting { attempts, .. } => attempts.checked_add(1),
            Self::Held { .. } | Self::Awarded { .. } | Self::Done { .. } => None,
        }
    }
}

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
            schedule: Schedule::new(0),
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

    /// Everybody who plays, in the order of the schedule once there is one.
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

    /// How a player is, in a word.
    pub fn condition(&self, player: &RegisteredPlayer) -> PlayerCondition {
        match player.withdrawn {
            true => PlayerCondition::Withdrawn,
            false if self.is_suspended(player) => PlayerCondition::Suspended,
            false => PlayerCondition::Active,
        }
    }

    /// Whether the registration has been opened again: then whoever is there is not whom anybody waited for.
    pub fn was_reopened(&self) -> bool {
        self.reopened > 0
    }

    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Where everybody stands, by place in the schedule.
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

    pub fn matches_completed(&self) -> u32 {
        self.matches_completed
    }

    /// The players of a match, side by side.
    pub fn contestants(&self, match_id: &MatchId) -> Option<Pair<&RegisteredPlayer>> {
        let (round, number) = match_id.parts()?;
        let pairing = self.schedule.pairing(round.0, number)?;
        let player = |side: Side| self.players.get(pairing[side] as usize);
        Some(Pair::new(player(Side::A)?, player(Side::B)?))
    }

    /// How a match ended, once it has.
    pub fn outcome(&self, match_id: &MatchId) -> Option<Outcome> {
        match self.slot(match_id)? {
            MatchSlot::Awarded { outcome } | MatchSlot::Done { outcome, .. } => Some(*outcome),
            MatchSlot::Waiting { .. } | MatchSlot::Held { .. } => None,
        }
    }

    fn slot(&self, match_id: &MatchId) -> Option<&MatchSlot> {
        let (round, number) = match_id.parts()?;
        let round = self.rounds.get(usize::try_from(round.0).ok()?.checked_sub(1)?)?;
        round.slots.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    fn slot_mut(&mut self, match_id: &MatchId) -> Option<&mut MatchSlot> {
        let (round, number) = match_id.parts()?;
        let round = self.rounds.get_mut(usize::try_from(round.0).ok()?.checked_sub(1)?)?;
        round.slots.get_mut(usize::try_from(number).ok()?.checked_sub(1)?)
    }
}

/// `now` as a log keeps it.
fn whole(now: Timestamp) -> Timestamp {
    Timestamp::from_unix(now.unix())
}

fn happened(now: Timestamp, fact: Fact) -> Event {
    Event { at: whole(now), fact }
}
