//! The only place where a season changes.

mod disputes;

use std::sync::Arc;

use league_protocol::dialect::PeerDialect;
use league_protocol::draw::{DrawCommitment, DrawSecret};
use league_protocol::id::{MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::registration::MAX_COMMITMENTS;
use league_protocol::message::report::LearnedDialect;
use league_protocol::quirk::Quirks;
use league_protocol::side::{Pair, Side};
use league_protocol::signature::ViewDigest;
use league_protocol::time::Timestamp;
use thiserror::Error;

use super::agent::{AgentId, AgentProfile, RegisteredPlayer, RegisteredReferee, StoredCredential};
use super::config::LeagueConfig;
use super::event::{Event, Fact};
use super::evidence::{Alert, AssignedDraw, DepositedMove};
use super::flow::LeaguePhase;
use super::format::{Pairing, RoundPlan};
use super::identity::AgentIdentity;
use super::report::hash_of;
use super::standings::Table;
use super::{MatchSlot, RoundState, Season};
use crate::record::MatchRecord;
use crate::rules::game::Ranking;
use crate::rules::outcome::Outcome;

/// The event cannot follow this state: the log is damaged, or belongs to another league.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadEvent {
    #[error("the log does not begin with the opening of a league")]
    NotOpened,
    #[error("the league is opened twice")]
    OpenedTwice,
    #[error("{0} is not known at this point of the log")]
    Unknown(String),
    #[error("{0} cannot happen at this point of the log")]
    Untimely(&'static str),
}

impl Season {
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Self, BadEvent> {
        let mut events = events.into_iter();
        let mut season = match events.next() {
            Some(Event { at, fact: Fact::Opened { config } }) => Self::empty(LeagueConfig::clone(config), *at),
            Some(_) | None => return Err(BadEvent::NotOpened),
        };
        for event in events {
            season.apply(event)?;
        }
        Ok(season)
    }

    /// An error leaves the season unchanged.
    ///
    /// The checks are as strict as those of the commands. The exception is pairings that a format decides from results: they are
    /// facts.
    pub fn apply(&mut self, event: &Event) -> Result<(), BadEvent> {
        self.apply_fact(event)?;
        (self.events, self.updated) = (self.events + 1, event.at);
        Ok(())
    }

    fn apply_fact(&mut self, event: &Event) -> Result<(), BadEvent> {
        match &event.fact {
            Fact::Opened { .. } => Err(BadEvent::OpenedTwice),
            Fact::PlayerRegistered { player, profile, grant } => self.admit_player(player, profile, grant),
            Fact::RefereeRegistered { referee, profile, capacity, grant, commitments } => {
                self.admit_referee(referee, profile, *capacity, grant, commitments)
            }
            Fact::PlayerReturned { player, profile, grant } => {
                let index = *self.player_index.get(player).ok_or_else(|| unknown(player))?;
                let player = &mut self.players[index as usize];
                if player.withdrawn {
                    return Err(BadEvent::Untimely("this return"));
                }
                player.identity = AgentIdentity::of(profile);
                player.profile = profile.clone();
                let former = std::mem::replace(&mut player.grant, grant.clone()).digest;
                // Without an open match no signature needs the oldest key.
                if player.former_keys.len() == RegisteredPlayer::MAX_FORMER_KEYS {
                    player.former_keys.remove(0);
                }
                player.former_keys.push(former);
                Ok(())
            }
            Fact::RefereeReturned { referee, profile, capacity, grant, commitments } => {
                let index = self.release(referee)?;
                let referee = &mut self.referees[index as usize];
                if referee.withdrawn {
                    return Err(BadEvent::Untimely("this return"));
                }
                referee.commitments = commitments.iter().copied().collect();
                referee.deposits = !commitments.is_empty();
                referee.identity = AgentIdentity::of(profile);
                (referee.profile, referee.grant) = (profile.clone(), grant.clone());
                (referee.capacity, referee.lost, referee.left) = (*capacity, false, false);
                Ok(())
            }
            Fact::RegistrationClosed => self.close(),
            Fact::RegistrationReopened => self.reopen_registration(),
            Fact::PlayerWithdrawn { player } => self.withdraw_player(player),
            Fact::RoundStarted { round, pairings, byes } => self.begin_round(*round, pairings, byes),
            Fact::LotDrawn { rounds, secret } => self.draw_lot(*rounds, secret),
            Fact::MatchAssigned { match_id, attempt, referee, draw } => {
                self.assign_match(match_id, *attempt, referee, draw.as_deref())
            }
            Fact::MatchReturned { match_id, attempt, cause } => self.return_match(match_id, *attempt, *cause),
            Fact::MoveDeposited { match_id, attempt, player, game_number, turn, view, played } => {
                self.held(match_id, *attempt)?;
                let (player, attempt, played) = (player.clone(), *attempt, played.clone());
                let deposit = DepositedMove {
                    player,
                    attempt,
                    game: *game_number,
                    turn: *turn,
                    view: ViewDigest(view.0),
                    played,
                };
                self.evidence_of(match_id).deposits.push(deposit);
                Ok(())
            }
            Fact::AlertRaised { match_id, attempt, referee, player, kind } => {
                self.slot(match_id).ok_or_else(|| unknown(match_id))?;
                self.referee(referee).ok_or_else(|| unknown(referee))?;
                let (attempt, referee, player, kind) = (*attempt, referee.clone(), player.clone(), *kind);
                self.evidence_of(match_id).alerts.push(Alert { attempt, referee, player, kind });
                Ok(())
            }
            Fact::MatchSuspended { match_id, attempt, report } => {
                let (referee, draw) = self.held_draw(match_id, *attempt)?;
                let report = report.clone();
                self.set(match_id, MatchSlot::Suspended { attempt: *attempt, referee, draw, report });
                self.referees[referee as usize].running -= 1;
                self.bar(match_id, referee);
                Ok(())
            }
            Fact::DisputeResolved { match_id, decision } => self.resolve_dispute(match_id, *decision),
            Fact::RefereeWithdrawn { referee } => {
                let known = self.referee(referee).ok_or_else(|| unknown(referee))?;
                if known.withdrawn || self.phase == LeaguePhase::LeagueCompleted {
                    return Err(BadEvent::Untimely("this withdrawal"));
                }
                let index = self.release(referee)?;
                self.referees[index as usize].withdrawn = true;
                Ok(())
            }
            Fact::RefereeLost { referee } | Fact::RefereeLeft { referee } => {
                let known = self.referee(referee).ok_or_else(|| unknown(referee))?;
                if known.lost || known.left {
                    return Err(BadEvent::Untimely("the loss of this referee"));
                }
                let (index, left) = (self.release(referee)?, matches!(event.fact, Fact::RefereeLeft { .. }));
                let referee = &mut self.referees[index as usize];
                (referee.lost, referee.left) = (!left, left);
                Ok(())
            }
            Fact::MatchExplained { match_id, attempt, account } => {
                self.reported_by(match_id, *attempt)?;
                // A transcript in the manager's own home need not be sent.
                if let Some(digest) = account.transcript_sha256.filter(|_| !account.in_your_home) {
                    self.transcripts.insert(match_id.clone(), (*attempt, digest));
                }
                Ok(())
            }
            Fact::MatchReported { match_id, attempt, record, commitments } => {
                self.count(match_id, *attempt, record, commitments, event.at)
            }
            Fact::MatchAwarded { match_id, outcome } => self.award(match_id, *outcome),
            Fact::RoundCompleted { round } => {
                let last = place(self.rounds.len());
                let byes = match self.last_round_mut() {
                    Some(open) if round.0 == last && open.open == 0 && !open.completed => {
                        open.completed = true;
                        open.plan.byes.clone()
                    }
                    Some(_) | None => return Err(BadEvent::Untimely("the end of this round")),
                };
                if self.config.format.scores_byes() {
                    byes.into_iter().for_each(|player| self.table.record_bye(player));
                }
                Ok(())
            }
            Fact::LeagueCompleted => {
                let completed = self.rounds.last().is_some_and(|round| round.completed);
                if self.phase != LeaguePhase::RunningLeague || !completed || self.next_plan().is_some() {
                    return Err(BadEvent::Untimely("the end of the league"));
                }
                self.phase = LeaguePhase::LeagueCompleted;
                Ok(())
            }
            Fact::AgentLearned { agent, learned } => self.record_learned(agent, learned),
            Fact::DialectForgotten { player } => {
                let index = *self.player_index.get(player).ok_or_else(|| unknown(player))?;
                let player = &mut self.players[index as usize];
                (player.dialect, player.quirks, player.shows_token) = Default::default();
                Ok(())
            }
            Fact::OperatorActed { .. } => Ok(()),
            Fact::Halted => self.set_halted(true),
            Fact::Resumed => self.set_halted(false),
        }
    }

    fn admit_player(
        &mut self,
        id: &PlayerId,
        profile: &AgentProfile,
        grant: &StoredCredential,
    ) -> Result<(), BadEvent> {
        let is_late = self.takes_late_players() && self.players.last().is_some_and(|last| last.id < *id);
        let is_open = self.phase == LeaguePhase::WaitingForRegistrations;
        if self.player_index.contains_key(id) || !(is_open || is_late) {
            return Err(BadEvent::Untimely("this registration"));
        }
        let (index, identity) = (place(self.players.len()), AgentIdentity::of(profile));
        self.player_index.insert(id.clone(), index);
        self.player_names.insert(identity.name.clone(), index);
        self.player_addresses.insert(identity.address.clone(), index);
        self.withdrawn_early.remove(id);
        while self.player_index.contains_key(&PlayerId::numbered(self.free_player)) {
            self.free_player += 1;
        }
        let (id, profile, grant) = (id.clone(), profile.clone(), grant.clone());
        self.players.push(RegisteredPlayer {
            id,
            registered: self.events,
            identity,
            profile,
            grant,
            former_keys: Vec::new(),
            forfeits_running: 0,
            dialect: PeerDialect::default(),
            quirks: Quirks::default(),
            shows_token: false,
            withdrawn: false,
        });
        if is_late {
            self.table.add_player();
        }
        Ok(())
    }

    fn admit_referee(
        &mut self,
        id: &RefereeId,
        profile: &AgentProfile,
        capacity: u32,
        grant: &StoredCredential,
        commitments: &[DrawCommitment],
    ) -> Result<(), BadEvent> {
        if self.referee_index.contains_key(id) || self.phase == LeaguePhase::LeagueCompleted {
            return Err(BadEvent::Untimely("this registration"));
        }
        self.referee_index.insert(id.clone(), place(self.referees.len()));
        while self.referee_index.contains_key(&RefereeId::numbered(self.free_referee)) {
            self.free_referee += 1;
        }
        let (id, profile, grant) = (id.clone(), profile.clone(), grant.clone());
        self.referees.push(RegisteredReferee {
            id,
            identity: AgentIdentity::of(&profile),
            profile,
            grant,
            capacity,
            running: 0,
            lost: false,
            left: false,
            withdrawn: false,
            stalled: false,
            faults: 0,
            commitments: commitments.iter().copied().collect(),
            deposits: !commitments.is_empty(),
            dialect: PeerDialect::default(),
            quirks: Quirks::default(),
        });
        Ok(())
    }

    fn close(&mut self) -> Result<(), BadEvent> {
        if self.phase != LeaguePhase::WaitingForRegistrations || self.players.len() < 2 {
            return Err(BadEvent::Untimely("closing the registration"));
        }
        self.phase = LeaguePhase::CreatingSchedule;
        self.players.sort_by(|a, b| a.id.cmp(&b.id));
        self.index_players();
        self.reset_table(self.players.len());
        Ok(())
    }

    fn index_players(&mut self) {
        self.player_index = self.players.iter().zip(0..).map(|(player, place)| (player.id.clone(), place)).collect();
        let identities = || self.players.iter().map(|player| &player.identity).zip(0..);
        self.player_names = identities().map(|(identity, place)| (identity.name.clone(), place)).collect();
        self.player_addresses = identities().map(|(identity, place)| (identity.address.clone(), place)).collect();
    }

    fn reset_table(&mut self, players: usize) {
        self.table = Table::new(place(players), self.config.scoring.clone());
    }

    fn reopen_registration(&mut self) -> Result<(), BadEvent> {
        if self.reopening().is_err() || self.phase == LeaguePhase::WaitingForRegistrations {
            return Err(BadEvent::Untimely("opening the registration again"));
        }
        let attempts = self.rounds.iter().flat_map(|round| &round.slots).map(|slot| match slot {
            MatchSlot::Waiting { attempts, .. } => *attempts,
            MatchSlot::Held { attempt, .. } | MatchSlot::Suspended { attempt, .. } => *attempt,
            MatchSlot::Awarded { .. } | MatchSlot::Done { .. } => 0,
        });
        self.abandoned = attempts.max().unwrap_or(0).max(self.abandoned);
        (self.phase, self.halted) = (LeaguePhase::WaitingForRegistrations, false);
        self.rounds.clear();
        self.lots.clear();
        self.evidence.clear();
        self.referees.iter_mut().for_each(|referee| referee.running = 0);
        let out = self.players.extract_if(.., |player| player.withdrawn).map(|player| player.id);
        self.withdrawn_early.extend(out);
        self.index_players();
        self.reset_table(0);
        self.reopened += 1;
        Ok(())
    }

    fn withdraw_player(&mut self, id: &PlayerId) -> Result<(), BadEvent> {
        let index = *self.player_index.get(id).ok_or_else(|| unknown(id))? as usize;
        if self.players[index].withdrawn || !self.can_lose_one() {
            return Err(BadEvent::Untimely("this withdrawal"));
        }
        match self.phase {
            LeaguePhase::WaitingForRegistrations | LeaguePhase::CreatingSchedule => {
                self.players.remove(index);
                self.withdrawn_early.insert(id.clone());
                self.index_players();
                if self.phase == LeaguePhase::CreatingSchedule {
                    self.reset_table(self.players.len());
                }
            }
            LeaguePhase::RunningLeague => self.players[index].withdrawn = true,
            LeaguePhase::LeagueCompleted => return Err(BadEvent::Untimely("this withdrawal")),
        }
        Ok(())
    }

    fn begin_round(&mut self, round: RoundId, pairings: &[[PlayerId; 2]], byes: &[PlayerId]) -> Result<(), BadEvent> {
        let next = place(self.rounds.len()) + 1;
        let due = matches!(self.phase, LeaguePhase::CreatingSchedule | LeaguePhase::RunningLeague)
            && !self.halted
            && self.rounds.last().is_none_or(|round| round.completed);
        let is_too_many = self.config.format.max_rounds(self.entrants()).is_some_and(|most| next > most);
        if !due || is_too_many || round.0 != next || pairings.is_empty() {
            return Err(BadEvent::Untimely("this round"));
        }
        let place_of = |player: &PlayerId| self.place_of(player).ok_or_else(|| unknown(player));
        let pairing = |[a, b]: &[PlayerId; 2]| Ok(Pairing::new(place_of(a)?, place_of(b)?));
        let plan = RoundPlan {
            pairings: pairings.iter().map(pairing).collect::<Result<_, _>>()?,
            byes: byes.iter().map(place_of).collect::<Result<_, _>>()?,
        };
        let planned = self.config.format.planned_round(self.entrants(), next);
        if planned.is_some_and(|planned| planned != plan) {
            return Err(BadEvent::Untimely("these pairings"));
        }
        let mut numbers = vec![0; self.players.len()];
        for (pairing, number) in plan.pairings.iter().zip(1..) {
            for player in [pairing.a, pairing.b] {
                if std::mem::replace(&mut numbers[player as usize], number) != 0 {
                    return Err(BadEvent::Untimely("a second match of a player in one round"));
                }
            }
        }
        if plan.byes.iter().any(|player| std::mem::replace(&mut numbers[*player as usize], u32::MAX) != 0) {
            return Err(BadEvent::Untimely("a bye of a player with a match"));
        }
        plan.byes.iter().for_each(|player| numbers[*player as usize] = 0);
        self.phase = LeaguePhase::RunningLeague;
        let attempts = if next == 1 { self.abandoned } else { 0 };
        let slots = vec![MatchSlot::Waiting { attempts, refused_by: None }; plan.pairings.len()];
        self.rounds.push(Arc::new(RoundState { open: place(slots.len()), plan, numbers, slots, completed: false }));
        Ok(())
    }

    fn draw_lot(&mut self, rounds: RoundId, secret: &DrawSecret) -> Result<(), BadEvent> {
        let is_due = matches!(self.phase, LeaguePhase::CreatingSchedule | LeaguePhase::RunningLeague)
            && self.rounds.last().is_none_or(|round| round.completed)
            && rounds == self.round_number()
            && self.config.format.needs_lot(&self.format_state());
        match self.config.lots.as_ref().filter(|_| is_due) {
            Some(source) if source.reveals(secret, place(self.lots.len()) + 1) => {
                self.lots.push(self.lot(secret));
                Ok(())
            }
            Some(_) | None => Err(BadEvent::Untimely("this lot")),
        }
    }

    fn assign_match(
        &mut self,
        match_id: &MatchId,
        attempt: u32,
        referee: &RefereeId,
        draw: Option<&AssignedDraw>,
    ) -> Result<(), BadEvent> {
        const UNTIMELY: BadEvent = BadEvent::Untimely("this assignment");
        let index = *self.referee_index.get(referee).ok_or_else(|| unknown(referee))?;
        let holder = &self.referees[index as usize];
        let deposited = draw.filter(|draw| !draw.seeded).map(|draw| &draw.commitment);
        let is_next = deposited.is_none_or(|commitment| holder.commitments.front() == Some(commitment));
        if self.halted || holder.free() == 0 || self.walkover(match_id).is_some() || !is_next {
            return Err(UNTIMELY);
        }
        let players = self.pairing(match_id).ok_or_else(|| unknown(match_id))?;
        match self.slot_mut(match_id).ok_or_else(|| unknown(match_id))? {
            slot @ MatchSlot::Waiting { .. } if slot.next_attempt() == Some(attempt) => {
                *slot = MatchSlot::Held { attempt, referee: index, draw: draw.cloned().map(Box::new) };
            }
            MatchSlot::Waiting { .. }
            | MatchSlot::Held { .. }
            | MatchSlot::Suspended { .. }
            | MatchSlot::Awarded { .. }
            | MatchSlot::Done { .. } => return Err(UNTIMELY),
        }
        let is_deposited = deposited.is_some();
        let referee = &mut self.referees[index as usize];
        referee.running += 1;
        if is_deposited {
            referee.commitments.pop_front();
        }
        for side in Side::BOTH {
            self.players[players[side] as usize].former_keys.clear();
        }
        Ok(())
    }

    fn count(
        &mut self,
        match_id: &MatchId,
        attempt: u32,
        record: &MatchRecord,
        commitments: &[DrawCommitment],
        at: Timestamp,
    ) -> Result<(), BadEvent> {
        let (referee, outcome) = (self.reported_by(match_id, attempt)?, record.outcome);
        let is_running = self.held(match_id, attempt).is_ok();
        let slot = MatchSlot::Done { referee, outcome, report_hash: hash_of(record), at: at.unix() };
        let pairing = self.settle(match_id, slot, outcome, record.score)?;
        let reporter = &mut self.referees[referee as usize];
        reporter.running -= u32::from(is_running);
        reporter.stalled = false;
        let room = MAX_COMMITMENTS.saturating_sub(reporter.commitments.len());
        reporter.commitments.extend(commitments.iter().take(room));
        self.forget_evidence(match_id);
        if self.config.lots.is_some() {
            self.lot_results.add_report(match_id, record);
        }
        for side in Side::BOTH {
            let player = &mut self.players[pairing[side] as usize];
            player.forfeits_running =
                if outcome.forfeited(side) { player.forfeits_running.saturating_add(1) } else { 0 };
        }
        Ok(())
    }

    fn award(&mut self, match_id: &MatchId, outcome: Outcome) -> Result<(), BadEvent> {
        let due = self.walkover(match_id) == Some(outcome) && !self.halted;
        if !due || !matches!(self.slot(match_id), Some(MatchSlot::Waiting { .. })) {
            return Err(BadEvent::Untimely("this award"));
        }
        self.settle(match_id, MatchSlot::Awarded { outcome }, outcome, None)?;
        if self.config.lots.is_some() {
            self.lot_results.add_award(match_id, outcome);
        }
        Ok(())
    }

    fn settle(
        &mut self,
        match_id: &MatchId,
        to: MatchSlot,
        outcome: Outcome,
        score: Option<Pair<i32>>,
    ) -> Result<Pairing, BadEvent> {
        let pairing = self.pairing(match_id).ok_or_else(|| unknown(match_id))?;
        self.set(match_id, to);
        if let Some(round) = self.last_round_mut() {
            round.open -= 1;
        }
        self.table.record(pairing, outcome);
        if let Some(about) = self.config.match_about()
            && about.ranking == Ranking::MeanScore
        {
            self.table.add_score(pairing, score.unwrap_or_else(|| outcome.score(about.forfeit)));
        }
        self.matches_completed += 1;
        Ok(pairing)
    }

    fn record_learned(&mut self, agent: &AgentId, learned: &LearnedDialect) -> Result<(), BadEvent> {
        let (known, quirks) = self.dialect_of(agent).ok_or_else(|| unknown(agent.as_str()))?;
        let dialect = learned.dialect.as_ref().filter(|dialect| *dialect != known);
        let news = learned.quirks.iter().any(|quirk| !quirks.has(quirk));
        let shows_token = learned.shows_token && self.is_yet_to_show_token(agent);
        if dialect.is_none() && !news && !shows_token {
            return Err(BadEvent::Untimely("learning what is known"));
        }
        let (known, quirks) = match agent {
            AgentId::Player(id) => {
                let place = *self.player_index.get(id).ok_or_else(|| unknown(id))?;
                let player = &mut self.players[place as usize];
                player.shows_token |= learned.shows_token;
                (&mut player.dialect, &mut player.quirks)
            }
            AgentId::Referee(id) => {
                let place = *self.referee_index.get(id).ok_or_else(|| unknown(id))?;
                let referee = &mut self.referees[place as usize];
                (&mut referee.dialect, &mut referee.quirks)
            }
        };
        if let Some(dialect) = &learned.dialect {
            known.clone_from(dialect);
        }
        *quirks = quirks.and(learned.quirks);
        Ok(())
    }

    fn set_halted(&mut self, halted: bool) -> Result<(), BadEvent> {
        if self.phase != LeaguePhase::RunningLeague || self.halted == halted {
            return Err(BadEvent::Untimely("stopping or going on"));
        }
        self.halted = halted;
        Ok(())
    }

    fn held(&self, match_id: &MatchId, attempt: u32) -> Result<u32, BadEvent> {
        match self.slot(match_id) {
            Some(MatchSlot::Held { attempt: current, referee, .. }) if *current == attempt => Ok(*referee),
            Some(
                MatchSlot::Held { .. }
                | MatchSlot::Suspended { .. }
                | MatchSlot::Waiting { .. }
                | MatchSlot::Awarded { .. }
                | MatchSlot::Done { .. },
            ) => Err(BadEvent::Untimely("this attempt")),
            None => Err(unknown(match_id)),
        }
    }

    /// The referee whose report of this attempt counts.
    fn reported_by(&self, match_id: &MatchId, attempt: u32) -> Result<u32, BadEvent> {
        let slot = self.slot(match_id).ok_or_else(|| unknown(match_id))?;
        let reportable = slot.reportable().filter(|(current, _, _)| *current == attempt);
        reportable.map(|(_, referee, _)| referee).ok_or(BadEvent::Untimely("this attempt"))
    }

    fn held_draw(&self, match_id: &MatchId, attempt: u32) -> Result<(u32, Option<Box<AssignedDraw>>), BadEvent> {
        let referee = self.held(match_id, attempt)?;
        let draw = if let Some(MatchSlot::Held { draw, .. }) = self.slot(match_id) { draw.clone() } else { None };
        Ok((referee, draw))
    }

    fn set(&mut self, match_id: &MatchId, to: MatchSlot) {
        if let Some(slot) = self.slot_mut(match_id) {
            *slot = to;
        }
    }

    fn release(&mut self, referee: &RefereeId) -> Result<u32, BadEvent> {
        let index = *self.referee_index.get(referee).ok_or_else(|| unknown(referee))?;
        for slot in self.last_round_mut().into_iter().flat_map(|round| &mut round.slots) {
            if let MatchSlot::Held { attempt, referee, .. } = slot
                && *referee == index
            {
                *slot = MatchSlot::Waiting { attempts: *attempt, refused_by: None };
            }
        }
        self.referees[index as usize].running = 0;
        Ok(index)
    }
}

/// No list here has 2^32 entries.
pub(super) fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn unknown(what: impl std::fmt::Display) -> BadEvent {
    BadEvent::Unknown(what.to_string())
}
